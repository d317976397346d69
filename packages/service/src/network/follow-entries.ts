import type { Tx } from '../db/sql.ts';
import type { TokenChange } from '../identity/registry/registry-tokens.ts';
import type { Entry } from './entry.ts';
import { claimOf } from './entry-address.ts';
import {
  deleteEntries,
  lockEntries,
  type NewEntry,
  readFollowed,
  upsertEntries,
  wakeRivals,
  writeFollowed,
} from './entry-store.ts';
import { delistAgent, delistNode } from './list-node.ts';
import type { NetworkContext } from './network-context.ts';

const BATCH = 500;

/** Takes over from the registry which tokens claim to be nodes and agents of nodes, in the order in which they changed. */
export async function followEntries(ctx: NetworkContext): Promise<void> {
  const { chainId } = ctx.registry;
  for (;;) {
    const from = await readFollowed(ctx.db, chainId);
    const changes = await ctx.registryTokens.changedAfter(from, BATCH);
    const to = changes.at(-1)?.number;
    if (to === undefined) return;
    await ctx.db.transaction(async (tx) => {
      if (await writeFollowed(tx, chainId, from, to)) await takeOver(ctx, tx, changes);
    });
    if (changes.length < BATCH) return;
  }
}

async function takeOver(ctx: NetworkContext, tx: Tx, changes: readonly TokenChange[]): Promise<void> {
  const { chainId } = ctx.registry;
  const wanted = new Map(
    changes.flatMap((change) => entryOf(ctx, change) ?? []).map((entry) => [entry.tokenId, entry]),
  );
  const tokenIds = changes.map(({ tokenId }) => String(tokenId));
  const gone = (await lockEntries(tx, chainId, tokenIds)).filter((entry) => !isSame(entry, wanted.get(entry.tokenId)));
  for (const entry of gone) await drop(ctx, tx, entry);
  await upsertEntries(tx, chainId, [...wanted.values()], ctx.clock.now());
}

function entryOf(ctx: NetworkContext, { token }: TokenChange): NewEntry | null {
  const claim = token && claimOf(token.uri);
  if (!claim || claim.baseUrl === ctx.baseUrl) return null;
  return { ...claim, tokenId: String(token.tokenId), owner: token.owner, registeredBy: token.registeredBy };
}

const isSame = (entry: Entry, wanted: NewEntry | undefined): boolean =>
  wanted !== undefined &&
  [wanted.kind, wanted.baseUrl, wanted.agentId].join() === [entry.kind, entry.baseUrl, entry.agentId].join();

/** The token is gone, or leads elsewhere. */
async function drop(ctx: NetworkContext, tx: Tx, entry: Entry): Promise<void> {
  const { chainId } = ctx.registry;
  const { tokenId, kind, baseUrl, agentId, state } = entry;
  await deleteEntries(tx, chainId, [tokenId]);
  if (state !== 'listed') return;
  if (agentId !== null) await delistAgent(ctx, tx, { baseUrl, agentId });
  else await delistNode(ctx, tx, baseUrl);
  await wakeRivals(tx, chainId, entry, ctx.clock.now());
  ctx.log.info({ tokenId, kind, baseUrl, agentId }, 'an entry of the registry is gone');
}
