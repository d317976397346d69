import { channelEventOf } from '../../../../chain/channels/channel-events.ts';
import type { MinedTransaction } from '../../../../chain/usdc-client.ts';
import type { Tx } from '../../../../store/sql.ts';
import { writeReadings } from '../chain/channel-reading-store.ts';
import { type ReadAt, readAtHead } from '../chain/refresh-channels.ts';
import type { ClaimContext } from './claim-context.ts';
import type { ClaimState } from './claim-state.ts';
import {
  type ChannelRefund,
  endRefunding,
  findRefundOfClaim,
  listStuckRefunds,
  reopenRefunding,
  writeRefundEnd,
} from './refund-store.ts';

/**
 * Reads the outcome of a refund with an ended transaction. The result records it in the database transaction that ends its claim. Until the
 * contract has used its nonce anyone may submit its signature, so the channel stays closed for vouchers.
 */
export async function endRefund(
  ctx: ClaimContext,
  claimId: string,
  { state, mined }: { state: ClaimState; mined: MinedTransaction | null },
): Promise<((tx: Tx, now: Date) => Promise<void>) | null> {
  const refund = await findRefundOfClaim(ctx.db, claimId);
  if (!refund || state === 'sent') return null;
  const seen = await readNow(ctx, refund.channelId);
  const refundedMicro = mined && state === 'done' ? refundedIn(mined, refund.channelId) : null;
  return async (tx, now) => {
    await writeRefundEnd(tx, refund.id, { state, refundedMicro, now });
    await freeChannel(tx, refund, seen, now);
  };
}

/** Closes the channel again after a reorg has removed its refund. */
export const reopenRefund = (tx: Tx, claimId: string): Promise<void> => reopenRefunding(tx, claimId);

/** Reopens channels with a refund that failed here and has a nonce that the contract has used by now. */
export async function freeStuckChannels(ctx: ClaimContext): Promise<void> {
  for (const refund of await listStuckRefunds(ctx.db, ctx.chain)) {
    const seen = await readNow(ctx, refund.channelId);
    await ctx.db.transaction((tx) => freeChannel(tx, refund, seen, ctx.clock.now()));
  }
}

/** Adopts the contract's state of the channel, and opens it for vouchers if the nonce of its refund is used. */
async function freeChannel(
  tx: Tx,
  { id, nonce }: ChannelRefund,
  { block, readings }: ReadAt,
  now: Date,
): Promise<void> {
  await writeReadings(tx, block.number, readings, now);
  if (readings.every(({ refundNonce }) => refundNonce > nonce)) await endRefunding(tx, id);
}

async function readNow(ctx: ClaimContext, channelId: string): Promise<ReadAt> {
  const read = await readAtHead(ctx, [channelId]);
  if (read === null) throw new Error('The chain changed while a channel was read; the next run reads it again.');
  return read;
}

/** Sum that the transaction refunded from the channel. */
const refundedIn = ({ logs }: MinedTransaction, channelId: string): bigint =>
  logs
    .map(channelEventOf)
    .flatMap((event) => (event?.kind === 'refunded' && event.channelId === channelId ? [event.amountMicro] : []))
    .reduce((sum, each) => sum + each, 0n);
