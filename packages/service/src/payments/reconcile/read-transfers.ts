import {
  areCanonical,
  type BeginPoint,
  type ChainPoint,
  pointToGoOnFrom,
  requireChain,
} from '../../chain/blocks/chain-point.ts';
import { depthFor, readDepths } from '../../chain/blocks/confirmation-depth.ts';
import { readAgainFrom } from '../../chain/blocks/read-again.ts';
import {
  forgetBooked,
  goBackToPoint,
  insertUnshown,
  type LateTransfer,
  listLate,
  type SeenTransfer,
  takeTransfer,
  takeUnshown,
  transferPoints,
} from '../../chain/blocks/transfer-point-store.ts';
import { isOwnWallet } from '../../chain/chain-info.ts';
import type { IncomingTransfer } from '../../chain/incoming-transfer-client.ts';
import { transferNonce } from '../../chain/keys/payment-nonces.ts';
import type { TransferReads } from '../../chain/outgoing-transfer-client.ts';
import { readLogRanges } from '../../chain/rpc/log-ranges.ts';
import { minOf } from '../../lib/bigints.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import type { ChainContext } from '../chain-outbox/chain-context.ts';
import { findById } from '../chain-outbox/chain-payment-store.ts';
import { relocateCredited } from '../chain-outbox/credited-transfer-store.ts';
import { creditTransfers } from '../deposits/credit-transfers.ts';
import { bookLate } from './book-late.ts';

/**
 * Time during which a payment may still be shown, longer than its offer is good (15 minutes); until then an authorization submitted by
 * others is not booked as a deposit.
 */
const SHOWABLE_MS = 1_200_000;
const MAX_BLOCKS = 2000n;
const CREDITED_AT_ONCE = 200;

type ReadContext = ChainContext & Pick<TransferReads, 'incomingTransfers'> & { readonly transferDepthBlocks: number };

/**
 * Reads the transfers to the node's wallet since the last run and credits them. Transfers from a former wallet are in the books already and
 * credit no account. On its first start a node begins at the head: the wallet's earlier balance belongs to its operator. After a crash a
 * block is read again, never skipped, and its transfers are credited once.
 */
export async function readTransfers(ctx: ReadContext): Promise<boolean> {
  const head = await ctx.incomingTransfers.headBlock();
  const last = head - BigInt(ctx.transferDepthBlocks - 1);
  let point = await currentPoint(ctx, last);
  while (point !== null && point.block < last) {
    const to = minOf(point.block + MAX_BLOCKS, last);
    point = await readUpTo(ctx, point, {
      fromBlock: to === last ? readAgainFrom(point.block, to) : point.block + 1n,
      to,
    });
  }
  await forgetBooked(ctx.db, ctx.chain);
  await bookLateTransfers(ctx);
  await creditStored(ctx);
  return point !== null && point.block >= last;
}

/** The point to continue from: the newest one that is still on the chain. Null when there is nothing to read yet. */
async function currentPoint(ctx: ReadContext, last: bigint): Promise<BeginPoint | null> {
  const points = await transferPoints.list(ctx.db, ctx.chain);
  const [newest] = points;
  if (newest === undefined) return startAt(ctx, last < 0n ? 0n : last);
  const point = (await pointToGoOnFrom(points, ctx.incomingTransfers.hashAt)) ?? newest;
  if (point.block < newest.block) {
    await requireChain(ctx);
    await ctx.db.transaction((tx) => goBackToPoint(tx, ctx.chain, point.block));
    ctx.log.warn({ block: String(point.block) }, 'chain reorganised; reading incoming transfers again');
  }
  return point;
}

async function startAt(ctx: ReadContext, block: bigint): Promise<ChainPoint | null> {
  const hash = await ctx.incomingTransfers.hashAt(block);
  if (hash === null) return null;
  const point = { block, hash };
  return (await transferPoints.add(ctx.db, ctx.chain, { before: null, point })) ? point : null;
}

/**
 * Reads the blocks after a point, and advances the point in the transaction that stores their transfers. Null when another process was faster, or the
 * chain was reorganised during the read; the next run retries.
 */
async function readUpTo(
  ctx: ReadContext,
  before: BeginPoint,
  { fromBlock, to }: { readonly fromBlock: bigint; readonly to: bigint },
): Promise<ChainPoint | null> {
  const { chainId } = ctx.chain;
  const { hashAt } = ctx.incomingTransfers;
  const hash = await hashAt(to);
  failpoint('before-read-transfers');
  const found: IncomingTransfer[] = [];
  await readLogRanges(fromBlock, to, async (start, end) => {
    found.push(...(await ctx.incomingTransfers.read(start, end)));
  });
  failpoint('after-read-transfers');
  if (hash === null) return null;
  const point = { block: to, hash };
  // A reorg meanwhile: the transfers may be of removed blocks, or others be in new blocks below.
  if (!(await areCanonical([before, point], hashAt))) return null;
  const isAhead = await ctx.db.transaction(async (tx) => {
    if (!(await transferPoints.add(tx, ctx.chain, { before, point }))) return false;
    const isOwn = ({ from }: IncomingTransfer) => isOwnWallet(ctx.chain, from);
    const transfers = found.filter((each) => !isOwn(each) && each.valueMicro > 0n).map(toSeen(chainId));
    await relocateCredited(tx, ctx.chain, transfers);
    await insertUnshown(tx, { ...ctx.chain, now: ctx.clock.now() }, transfers);
    if (found.length > 0) failpoint('before-credit-commit');
    return true;
  });
  if (found.length > 0) failpoint('after-credit-commit');
  return isAhead ? point : null;
}

const toSeen =
  (chainId: number) =>
  ({ nonce, ordinal, ...transfer }: IncomingTransfer): SeenTransfer => ({
    ...transfer,
    nonce: nonce ?? transferNonce(chainId, transfer.transactionHash, ordinal),
    isPlain: nonce === null,
  });

/**
 * Credits plain transfers, and those with authorizations not presented in time, as deposits, in transactions of limited size. The next run
 * credits the rest after a crash.
 */
async function creditStored(ctx: ReadContext): Promise<void> {
  const before = new Date(ctx.clock.now().getTime() - SHOWABLE_MS);
  const { chainId, token } = ctx.chain;
  const batch = { chainId, token, before, limit: CREDITED_AT_ONCE };
  let taken: number;
  do {
    taken = await ctx.db.transaction(async (tx) => {
      const transfers = await takeUnshown(tx, batch);
      await creditTransfers(ctx, tx, transfers);
      if (transfers.length > 0) failpoint('before-credit-unshown-commit');
      return transfers.length;
    });
    if (taken > 0) failpoint('after-credit-unshown-commit');
  } while (taken === CREDITED_AT_ONCE);
}

const MAX_AT_ONCE = 200;

/**
 * Books transfers that arrived for payments recorded as failed. The reconciler watches such payments until they expire; this catches those
 * that it missed while no process ran or because of a reorg.
 */
export async function bookLateTransfers(ctx: ChainContext): Promise<void> {
  const late = await listLate(ctx.db, ctx.chain, MAX_AT_ONCE);
  const isAsDeep = await readDepths(ctx.usdc, late);
  for (const transfer of late.filter((each) => isAsDeep(each, depthFor(ctx.confirmations, each.valueMicro))))
    await book(ctx, transfer).catch((error) =>
      ctx.log.warn({ err: error, paymentId: transfer.paymentId }, 'cannot book late payment'),
    );
}

async function book(ctx: ChainContext, late: LateTransfer): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    const transfer = await takeTransfer(tx, ctx.chain, late);
    const payment = transfer && (await findById(tx, late.paymentId));
    if (payment) await bookLate(ctx, tx, payment, transfer);
    failpoint('before-credit-unshown-commit');
  });
  failpoint('after-credit-unshown-commit');
}
