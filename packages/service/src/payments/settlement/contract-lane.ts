import { type Batcher, createBatcher } from '../../lib/batcher.ts';
import type { ChainContext } from '../onchain/chain-context.ts';
import type { NewChainPayment } from '../onchain/chain-payment.ts';
import { failPayment } from '../onchain/end-payments.ts';
import { isRefusedNow } from '../onchain/payer-standing.ts';
import { contractGas } from './contract-payers.ts';
import { endSpent } from './end-spent.ts';
import type { SettleOutcome } from './record-mined.ts';

type Send = (payment: NewChainPayment, gas: bigint) => Promise<SettleOutcome>;

/**
 * Where payments of contract wallets wait. The code of each runs alone, so that nobody's gas but its own is there to be burnt; and never
 * with all keys at once, so that the payments of keys go on beside them.
 */
export const createContractLane = (ctx: ChainContext, send: Send): Batcher<NewChainPayment, SettleOutcome> =>
  createBatcher({
    async run([payment]: NewChainPayment[]) {
      if (!payment) return [];
      const gas = await gasOrOutcome(ctx, payment);
      return [typeof gas === 'bigint' ? await send(payment, gas) : gas];
    },
    maxSize: 1,
    keyOf: ({ authorization }) => authorization.from,
    maxConcurrent: Math.ceil(ctx.senders.length / 2),
    canSplit: () => false,
  });

/** What the payment may take. One that would be undone, or whose payer is refused by now, is not sent, and has failed, unless somebody else submitted it. */
async function gasOrOutcome(ctx: ChainContext, payment: NewChainPayment): Promise<bigint | SettleOutcome> {
  const unknown: SettleOutcome = { state: 'unknown', transactionHash: null };
  try {
    // What was taken before the first of them failed is not sent after it.
    const gas = (await isRefusedNow(ctx, payment)) ? null : await contractGas(ctx, payment);
    if (typeof gas === 'bigint') return gas;
    const [isSpent] = await ctx.usdc.areSpent([payment.authorization]);
    if (isSpent)
      return (await endSpent(ctx, { ...payment, createdAt: ctx.clock.now(), transactionHash: null })) ?? unknown;
    const reason = 'invalid_exact_evm_transaction_failed';
    await failPayment(ctx, payment, reason);
    return { state: 'failed', reason };
  } catch (error) {
    ctx.log.warn({ err: error, paymentId: payment.id }, 'cannot estimate gas of a payment; left to the reconciler');
    return unknown;
  }
}
