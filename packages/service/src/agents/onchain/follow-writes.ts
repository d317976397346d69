import type { NodeIdentity } from '../../chain/chain-info.ts';
import type { RegistryIndex } from '../../registry/read/registry-tokens.ts';
import { nodeFileUrl } from '../../registry/write/announce-node.ts';
import { queueWrite } from '../../registry/write/queue-write.ts';
import type { FollowWrites } from '../../registry/write/record-writes.ts';
import { retireCall, uriCall } from '../../registry/write/registry-calls.ts';
import { NODE_SUBJECT, type RegistryWrite, type WriteKind } from '../../registry/write/registry-write.ts';
import type { Store } from '../../store/database.ts';
import type { Tx } from '../../store/sql.ts';
import { lockTokenHolders, writeClaimedAt, writeTokenIds } from './agent-token-store.ts';
import { endRemoval } from './end-removal.ts';
import { registrationUrl } from './registration-file.ts';

type FollowContext = RegistryIndex & Store & NodeIdentity;

/** Applies finished registry writes to agents: token assigned, token held by the owner, removal recorded. */
export const createFollower =
  (ctx: FollowContext): FollowWrites =>
  async (tx, { done, failed, undone }) => {
    const now = ctx.clock.now();
    await giveTokens(ctx, tx, of(done, 'register'), now);
    await leadHere(ctx, tx, done, now);
    await writeClaimedAt(tx, of(undone, 'transfer'), null);
    await writeClaimedAt(tx, of(done, 'transfer'), now);
    for (const { agentId, blockNumber } of of([...done, ...failed], 'retire'))
      if (blockNumber !== null) await endRemoval(tx, { agentId, finalBlock: blockNumber, now });
  };

type TokenWrite = RegistryWrite & { readonly agentId: string; readonly tokenId: string };

const of = (writes: readonly RegistryWrite[], kind: WriteKind): TokenWrite[] =>
  writes
    .filter((write) => write.kind === kind && write.subjectId !== NODE_SUBJECT && write.tokenId !== null)
    .map((write) => ({ ...write, agentId: write.subjectId, tokenId: write.tokenId as string }));

/** Assigns minted tokens to their agents; retires those of agents that were removed or linked another token in the meantime. */
async function giveTokens(ctx: FollowContext, tx: Tx, writes: readonly TokenWrite[], now: Date): Promise<void> {
  if (writes.length === 0) return;
  const ids = writes.map(({ agentId }) => agentId);
  const holders = await lockTokenHolders(tx, ids);
  const needless = new Set(holders.filter((each) => each.isRemoved || each.isClaimed).map(({ id }) => id));
  await writeTokenIds(
    tx,
    writes.filter(({ agentId }) => !needless.has(agentId)),
    now,
  );
  for (const { agentId, tokenId } of writes)
    if (needless.has(agentId))
      await queueWrite(ctx, tx, { kind: 'retire', subjectId: agentId, ...retireCall(ctx, tokenId) }, now);
}

/** Plans new writes for entries that were in flight when the node restarted at another address and still point to the old one. */
async function leadHere(ctx: FollowContext, tx: Tx, done: readonly RegistryWrite[], now: Date): Promise<void> {
  const astray = done.filter(({ uri, subjectId }) => uri !== null && uri !== uriOf(ctx, subjectId));
  if (astray.length === 0) return;
  const holders = await lockTokenHolders(
    tx,
    astray.map(({ subjectId }) => subjectId),
  );
  const isHeld = new Set(holders.filter((each) => !each.isRemoved && !each.isClaimed).map(({ id }) => id));
  for (const { subjectId, tokenId } of astray)
    if (tokenId !== null && (subjectId === NODE_SUBJECT || isHeld.has(subjectId)))
      await queueWrite(ctx, tx, { kind: 'uri', subjectId, ...uriCall(ctx, tokenId, uriOf(ctx, subjectId)) }, now);
}

const uriOf = (ctx: NodeIdentity, subjectId: string): string =>
  subjectId === NODE_SUBJECT ? nodeFileUrl(ctx) : registrationUrl(ctx.baseUrl, subjectId);
