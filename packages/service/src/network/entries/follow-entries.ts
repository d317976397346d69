import type { Tx } from '../../db/sql.ts';
import type { TokenChange } from '../../registry/read/registry-tokens.ts';
import type { Entry } from '../nodes/entry.ts';
import { claimOf } from '../nodes/entry-address.ts';
import {
  deleteEntries,
  lockEntries,
  type NewEntry,
  readFollowed,
  upsertEntries,
  wakeAgents,
  wakeRivals,
  writeFollowed,
} from '../nodes/entry-store.ts';
import { delistAgent, delistNode } from '../nodes/list-node.ts';
import type { NetworkContext } from '../nodes/network-context.ts';

const BATCH = 500;

/** Copies changed registry tokens that claim to be nodes or agents of nodes, in the order of their changes. */
export async function followEntries(ctx: NetworkContext): Promise<void> {
  const { chainId } = ctx.registry;
  for (;;) {
    const from = await readFollowed(ctx.db, chainId);
    const changes = await ctx.registryTokens.changedAfter(from, BATCH);
    const to = changes.at(-1)?.number;
    if (to === undefined) return;
    await ctx.db.transaction(async (tx) => {
      if (await writeFollowed(tx, chainId, from, to)) await applyTokenChanges(ctx, tx, changes);
    });
    if (changes.length < BATCH) return;
  }
}

async function applyTokenChanges(ctx: NetworkContext, tx: Tx, changes: readonly TokenChange[]): Promise<void> {
  const { chainId } = ctx.registry;
  const wanted = new Map(
    changes.flatMap((change) => entryOf(ctx, change) ?? []).map((entry) => [entry.tokenId, entry]),
  );
  const tokenIds = changes.map(({ tokenId }) => String(tokenId));
  const before = await lockEntries(tx, chainId, tokenIds);
  const isGone = (entry: Entry) => !isSame(entry, wanted.get(entry.tokenId));
  for (const entry of before.filter(isGone)) await drop(ctx, tx, entry);
  const now = ctx.clock.now();
  await upsertEntries(tx, chainId, [...wanted.values()], now);
  // The node's key decides the agents that may have their home there.
  const hasOtherKey = ({ kind, tokenId, uriBy }: Entry) => kind === 'node' && wanted.get(tokenId)?.uriBy !== uriBy;
  for (const { baseUrl } of before.filter((entry) => !isGone(entry) && hasOtherKey(entry)))
    await wakeAgents(tx, chainId, baseUrl, now);
}

function entryOf(ctx: NetworkContext, { token }: TokenChange): NewEntry | null {
  const claim = token && claimOf(token.uri);
  if (!claim || claim.baseUrl === ctx.baseUrl) return null;
  const { owner, registeredBy, uriBlock, uriIndex, uriBy } = token;
  return { ...claim, tokenId: String(token.tokenId), owner, registeredBy, uriBlock, uriIndex, uriBy };
}

const isSame = (entry: Entry, wanted: NewEntry | undefined): boolean =>
  wanted !== undefined &&
  [wanted.kind, wanted.baseUrl, wanted.agentId].join() === [entry.kind, entry.baseUrl, entry.agentId].join();

/** The token is gone, or points elsewhere. */
async function drop(ctx: NetworkContext, tx: Tx, entry: Entry): Promise<void> {
  const { chainId } = ctx.registry;
  const { tokenId, kind, baseUrl, agentId, state } = entry;
  await deleteEntries(tx, chainId, [tokenId]);
  if (state !== 'listed') return;
  if (agentId !== null) await delistAgent(ctx, tx, { baseUrl, agentId });
  else await delistNode(ctx, tx, baseUrl);
  await wakeRivals(tx, chainId, entry, ctx.clock.now());
  ctx.log.info({ tokenId, kind, baseUrl, agentId }, 'registry entry removed');
}
