import {
  areCanonical,
  type BeginPoint,
  type ChainPoint,
  pointToGoOnFrom,
  requireChain,
} from '../../chain/blocks/chain-point.ts';
import { pointStore } from '../../chain/blocks/point-store.ts';
import { readAgainFrom } from '../../chain/blocks/read-again.ts';
import { transferPoints } from '../../chain/blocks/transfer-point-store.ts';
import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import { transferNonce } from '../../chain/keys/payment-nonces.ts';
import type { OutgoingTransfer, TransferReads } from '../../chain/outgoing-transfer-client.ts';
import { readLogRanges } from '../../chain/rpc/log-ranges.ts';
import { minOf } from '../../lib/bigints.ts';
import { until } from '../../lib/concurrency/until.ts';
import type { ChainContext } from '../chain-outbox/chain-context.ts';
import { insertCatchUp, readCatchUp } from '../payouts/catch-up-store.ts';
import { insertFoundPayouts, type NamedTransfer } from '../payouts/found-payout-store.ts';
import { channelPoints } from '../schemes/batch-settlement/chain/channel-reading-store.ts';
import type { ChannelServices } from '../schemes/batch-settlement/channel-services.ts';
import { explainPayouts, type RequestPayouts } from './explain-payouts.ts';
import { readTransfers } from './read-transfers.ts';

/** Up to where transfers out of the wallet were compared with the books. */
export const payoutPoints = pointStore('payout_point');

const MAX_BLOCKS = 2000n;

export type PayoutContext = ChainContext &
  TransferReads &
  Pick<NodeKeys, 'secrets'> &
  Pick<ChannelServices, 'recoverChannels'> & {
    readonly requestPayouts: RequestPayouts;
    readonly transferDepthBlocks: number;
  };

/**
 * Reads the transfers to and from the node's wallet since the last run. Payouts are in the books before they are sent, so an unexplained
 * transfer was made by someone else with the wallet's key, or by this node in commits that the database has lost. It is recorded, and
 * charged to its source account if that is certain. After a change of the database (a restore, a failover), withdrawals wait until all
 * transfers up to the head are read. If the process dies, a block is read again. Returns false if not all could be read. `since`: end of
 * the books of a restored database, if an earlier run has read on from there.
 */
export async function readWallet(ctx: PayoutContext, since: ChainPoint | null = null): Promise<boolean> {
  const state = await readCatchUp(ctx.db, ctx.chain);
  const from = since ?? (await beginPoint(ctx));
  const isAnother = !state.isCaughtUp && state.database !== null;
  // Before the point moves: after a death the next run begins behind it.
  if (isAnother && from !== null && !(await ctx.recoverChannels(from.block))) return false;
  const hasRead = await readTransfers(ctx);
  const to = await readPayouts(ctx, { isRestored: !state.isCaughtUp && from !== null });
  await explainPayouts(ctx);
  const isComplete = hasRead && to !== null;
  if (state.isCaughtUp || state.database === null || !isComplete) return isComplete;
  const { database } = state;
  const catchUp = {
    database,
    fromBlock: from?.block ?? to,
    toBlock: to,
    isRestored: from !== null,
    caughtUpAt: ctx.clock.now(),
  };
  await insertCatchUp(ctx.db, ctx.chain, catchUp);
  if (from !== null)
    ctx.log.warn(
      { database, fromBlock: String(from.block), toBlock: String(to) },
      'another database: its books caught up with the chain',
    );
  return isComplete;
}

/** The last point read. A node that has only read incoming transfers continues from theirs. Null: a new node. */
async function beginPoint(ctx: PayoutContext): Promise<ChainPoint | null> {
  const [newest] = await payoutPoints.list(ctx.db, ctx.chain);
  if (newest) return newest;
  const [incoming] = await transferPoints.list(ctx.db, ctx.chain);
  if (!incoming) return null;
  await payoutPoints.add(ctx.db, ctx.chain, { before: null, point: incoming });
  return incoming;
}

/**
 * Reads up to where the incoming transfers were read, or, after a restore, up to the head: a payout of the last seconds is lost as others are.
 * Returns that block; null when there is more to read.
 */
async function readPayouts(ctx: PayoutContext, { isRestored }: { isRestored: boolean }): Promise<bigint | null> {
  const [incoming] = await transferPoints.list(ctx.db, ctx.chain);
  if (!incoming) return null;
  const head = isRestored ? await ctx.incomingTransfers.headBlock() : 0n;
  const last = head > incoming.block ? head : incoming.block;
  let point: BeginPoint | null = (await canonicalPoint(ctx)) ?? (await startAt(ctx, incoming));
  while (point !== null && point.block < last) {
    const to: bigint = minOf(point.block + MAX_BLOCKS, last);
    const fromBlock = to === last ? readAgainFrom(point.block, to) : point.block + 1n;
    point = await readUpTo(ctx, point, { fromBlock, to, isRestored });
  }
  return point === null ? null : last;
}

async function startAt(ctx: PayoutContext, point: ChainPoint): Promise<ChainPoint | null> {
  return (await payoutPoints.add(ctx.db, ctx.chain, { before: null, point })) ? point : null;
}

/** The point to continue from, as of the incoming transfers. Null when there is none. */
async function canonicalPoint(ctx: PayoutContext): Promise<BeginPoint | null> {
  const points = await payoutPoints.list(ctx.db, ctx.chain);
  const [newest] = points;
  if (!newest) return null;
  const point = (await pointToGoOnFrom(points, ctx.incomingTransfers.hashAt)) ?? newest;
  if (point.block < newest.block) {
    await requireChain(ctx);
    await payoutPoints.goBack(ctx.db, ctx.chain, point.block);
  }
  return point;
}

/** Null when another process was faster, or the chain was reorganised during the read; the next run retries. */
async function readUpTo(
  ctx: PayoutContext,
  from: BeginPoint,
  { fromBlock, to, isRestored }: { fromBlock: bigint; to: bigint; isRestored: boolean },
): Promise<ChainPoint | null> {
  const { chain, db } = ctx;
  const { hashAt } = ctx.incomingTransfers;
  const hash = await hashAt(to);
  const read: OutgoingTransfer[] = [];
  await readLogRanges(fromBlock, to, async (start, end) => {
    read.push(...(await ctx.outgoingTransfers.read(start, end)));
  });
  if (hash === null) return null;
  const point = { block: to, hash };
  if (!(await areCanonical([from, point], hashAt))) return null;
  const transfers = read.filter((each) => each.to !== chain.wallet && each.valueMicro > 0n).map(named(chain.chainId));
  const isAhead = await db.transaction(async (tx) => {
    if (!(await payoutPoints.add(tx, chain, { before: from, point }))) return null;
    const found = await insertFoundPayouts(tx, chain, transfers, { isRestored, now: ctx.clock.now() });
    return found;
  });
  if (isAhead === null) return null;
  if (isAhead > 0)
    ctx.log.error(
      { stream: 'security', payouts: isAhead, isRestored },
      'transfers out of the wallet that no payment explains',
    );
  return point;
}

const named =
  (chainId: number) =>
  ({ nonce, ordinal, ...transfer }: OutgoingTransfer): NamedTransfer => ({
    ...transfer,
    isPlain: nonce === null,
    nonce: nonce ?? transferNonce(chainId, transfer.transactionHash, ordinal),
  });

const MAX_RUNS_WITHOUT_NEWS = 20;
const PAUSE_MS = 500;

/**
 * At the start of a node: a database that was not compared with the chain before is, before anything is called, paid or refunded from it.
 * Waits while another process reads on. Throws while the chain can't be read. A database that had caught up before is read on in the
 * background.
 */
export async function catchUp(ctx: PayoutContext): Promise<void> {
  const isCaughtUp = async () => (await readCatchUp(ctx.db, ctx.chain)).isCaughtUp;
  const newestPoints = async () => {
    const stores = [transferPoints, payoutPoints, channelPoints];
    const points = await Promise.all(stores.map((store) => store.list(ctx.db, ctx.chain)));
    return points.map(([newest]) => newest?.hash).join();
  };
  const since = (await isCaughtUp()) ? null : await beginPoint(ctx);
  let before = '';
  let runsWithoutNews = 0;
  const read = async () => {
    if (await isCaughtUp()) return true;
    await readWallet(ctx, since);
    if (await isCaughtUp()) return true;
    const now = await newestPoints();
    runsWithoutNews = now === before ? runsWithoutNews + 1 : 1;
    before = now;
    if (runsWithoutNews === MAX_RUNS_WITHOUT_NEWS)
      throw new Error('the books of this database could not be held against the chain: it changed with each read');
    return null;
  };
  await until(read, { timeoutMs: Number.POSITIVE_INFINITY, firstMs: PAUSE_MS, maxMs: PAUSE_MS });
}
