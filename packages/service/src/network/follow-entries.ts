import type { TokenChange } from '../registry/read/registry-tokens.ts';
import type { Tx } from '../store/sql.ts';
import type { Entry } from './entry.ts';
import { claimOf } from './entry-address.ts';
import {
  deleteEntries,
  lockEntries,
  type NewEntry,
  readFollowed,
  upsertEntries,
  wakeAgents,
  wakeRivals,
  writeFollowed,
} from './entry-store.ts';
import { delistAgent, delistNode } from './list-node.ts';
import type { NetworkContext } from './network-context.ts';

const BATCH = 500;

/** Copies changed registry tokens that claim to be nodes or agents of nodes, in the order of their changes. */
export async function followEntries(ctx: NetworkContext): Promise<void> {
  for (;;) {
    const from = await readFollowed(ctx.db, ctx.registry.chainId);
    const changes = await ctx.registryTokens.changedAfter(from, BATCH);
    const to = changes.at(-1)?.number;
    if (to === undefined) return;
    const followed = await ctx.db.transaction((tx) => followSome(ctx, tx, changes, { from, to }));
    if (followed === changes.length && changes.length < BATCH) return;
  }
}

/** Applies the first of these changes, at most until a second node leaves. Returns their number; all: another process has followed them. */
async function followSome(
  ctx: NetworkContext,
  tx: Tx,
  changes: readonly TokenChange[],
  { from, to }: { from: bigint; to: bigint },
): Promise<number> {
  const { chainId } = ctx.registry;
  if (!(await writeFollowed(tx, chainId, from, to))) return changes.length;
  const locked = await lockEntries(
    tx,
    chainId,
    changes.map(({ tokenId }) => String(tokenId)),
  );
  const wanted = wantedOf(ctx, changes);
  const isLeaving = (entry: Entry) => isListedNode(entry) && !isSame(entry, wanted.get(entry.tokenId));
  const leaving = new Set(locked.filter(isLeaving).map(({ tokenId }) => tokenId));
  // Each is told to all listeners, and a transaction has sequences for one such round.
  const [, second] = changes.filter(({ tokenId }) => leaving.has(String(tokenId)));
  const part = second ? changes.slice(0, changes.indexOf(second)) : changes;
  const last = part.at(-1)?.number ?? from;
  if (last !== to) await writeFollowed(tx, chainId, to, last);
  await applyTokenChanges(ctx, tx, part, locked);
  return part.length;
}

/** Applies changes to their entries, which are locked; other locked ones are unchanged. */
async function applyTokenChanges(
  ctx: NetworkContext,
  tx: Tx,
  changes: readonly TokenChange[],
  locked: readonly Entry[],
): Promise<void> {
  const { chainId } = ctx.registry;
  const wanted = wantedOf(ctx, changes);
  const changed = new Set(changes.map(({ tokenId }) => String(tokenId)));
  const before = locked.filter(({ tokenId }) => changed.has(tokenId));
  const isGone = (entry: Entry) => !isSame(entry, wanted.get(entry.tokenId));
  for (const entry of before.filter(isGone)) await drop(ctx, tx, entry);
  const now = ctx.clock.now();
  await upsertEntries(tx, chainId, [...wanted.values()], now);
  // The node's key decides the agents that may have their home there.
  const hasOtherKey = ({ kind, tokenId, uriBy }: Entry) => kind === 'node' && wanted.get(tokenId)?.uriBy !== uriBy;
  for (const { baseUrl } of before.filter((entry) => !isGone(entry) && hasOtherKey(entry)))
    await wakeAgents(tx, chainId, baseUrl, now);
}

const wantedOf = (ctx: NetworkContext, changes: readonly TokenChange[]): ReadonlyMap<string, NewEntry> =>
  new Map(changes.flatMap((change) => entryOf(ctx, change) ?? []).map((entry) => [entry.tokenId, entry]));

const isListedNode = ({ kind, state }: Entry): boolean => kind === 'node' && state === 'listed';

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
