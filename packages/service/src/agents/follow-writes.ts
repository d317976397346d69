import type { Tx } from '../db/sql.ts';
import { noteWrite } from '../identity/registry/note-write.ts';
import type { FollowWrites } from '../identity/registry/record-writes.ts';
import { retireCall } from '../identity/registry/registry-calls.ts';
import type { HasRegistry } from '../identity/registry/registry-info.ts';
import { NODE_SUBJECT, type RegistryWrite, type WriteKind } from '../identity/registry/registry-write.ts';
import type { HasClock } from '../lib/clock.ts';
import { lockTokenHolders, writeClaimedAt, writeTokenIds } from './agent-token-store.ts';
import { endRemoval } from './end-removal.ts';

/** What the end of writes to the registry means to agents: they have a token, their owner holds it, their removal is recorded. */
export const createFollower =
  (ctx: HasRegistry & HasClock): FollowWrites =>
  async (tx, { done, failed, undone }) => {
    const now = ctx.clock.now();
    await giveTokens(ctx, tx, of(done, 'register'), now);
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

/** An agent that was removed meanwhile, or came with a token of its own, has no use for the one that was made for it. */
async function giveTokens(ctx: HasRegistry, tx: Tx, writes: readonly TokenWrite[], now: Date): Promise<void> {
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
      await noteWrite(ctx, tx, { kind: 'retire', subjectId: agentId, ...retireCall(ctx, tokenId) }, now);
}
