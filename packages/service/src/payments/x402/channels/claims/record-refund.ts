import { channelEventOf } from '../../../../chain/channels/channel-events.ts';
import type { MinedTransaction } from '../../../../chain/usdc-client.ts';
import type { Tx } from '../../../../db/sql.ts';
import type { ClaimContext } from './claim-context.ts';
import type { ClaimState } from './claim-state.ts';
import { endRefunding, findRefundOfClaim, listStuckRefunds, reopenRefunding, writeRefundEnd } from './refund-store.ts';

/**
 * Reads what the chain says of a refund whose transaction has ended; the result records it in the transaction that ends its claim. Until
 * the contract has used its nonce, anybody may submit its signature: the channel stays closed for vouchers.
 */
export async function endRefund(
  ctx: ClaimContext,
  claimId: string,
  { state, mined }: { state: ClaimState; mined: MinedTransaction | null },
): Promise<((tx: Tx, now: Date) => Promise<void>) | null> {
  const refund = await findRefundOfClaim(ctx.db, claimId);
  if (!refund || state === 'sent') return null;
  const onChain = await stateOf(ctx, refund.channelId);
  const refundedMicro = mined && state === 'done' ? refundedIn(mined, refund.channelId) : null;
  return async (tx, now) => {
    await writeRefundEnd(tx, refund.id, { state, refundedMicro, now });
    if (onChain.refundNonce > refund.nonce) await endRefunding(tx, refund.id, onChain);
  };
}

/** Closes the channel again after a reorg has removed its refund. */
export const reopenRefund = (tx: Tx, claimId: string): Promise<void> => reopenRefunding(tx, claimId);

/** Opens channels whose refund failed here, and whose nonce the contract has used by now. */
export async function freeStuckChannels(ctx: ClaimContext): Promise<void> {
  for (const { id, channelId, nonce } of await listStuckRefunds(ctx.db, ctx.chain.chainId)) {
    const onChain = await stateOf(ctx, channelId);
    if (onChain.refundNonce > nonce) await ctx.db.transaction((tx) => endRefunding(tx, id, onChain));
  }
}

const none = { balanceMicro: 0n, claimedMicro: 0n, refundNonce: 0n, withdrawal: null };
const stateOf = async (ctx: ClaimContext, channelId: string) =>
  (await ctx.settlementContract.readChannels([channelId], null))[0] ?? none;

/** Sum of what the transaction refunded of the channel. */
const refundedIn = ({ logs }: MinedTransaction, channelId: string): bigint =>
  logs
    .map(channelEventOf)
    .flatMap((event) => (event?.kind === 'refunded' && event.channelId === channelId ? [event.amountMicro] : []))
    .reduce((sum, each) => sum + each, 0n);
