import { type Batcher, createBatcher } from '../../lib/concurrency/batcher.ts';
import type { ChainContext } from '../onchain/chain-context.ts';
import type { NewChainPayment } from '../onchain/chain-payment.ts';
import { failRefused } from '../onchain/end-payments.ts';
import { isRefusedNow } from '../onchain/payers/payer-standing.ts';
import { contractGas } from './contract-payers.ts';
import { endSpent } from './end-spent.ts';
import type { SettleOutcome } from './record-mined.ts';
import { refusalOfNode } from './refusal-cause.ts';

type Send = (payment: NewChainPayment, gas: bigint) => Promise<SettleOutcome>;

/**
 * Queue of payments from contract wallets. Each is sent in a transaction of its own, so that its code can burn only its own gas; at most
 * half of the keys are used, so that payments from keys continue in parallel.
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

/**
 * Gas limit of the payment. A payment that would revert, or whose payer is in back-off by now, is not sent and fails, unless somebody else
 * has submitted it. One that no key can pay gas for waits for the reconciler, and holds no place of the lane meanwhile.
 */
async function gasOrOutcome(ctx: ChainContext, payment: NewChainPayment): Promise<bigint | SettleOutcome> {
  const unknown: SettleOutcome = { state: 'unknown', transactionHash: null };
  try {
    // A payment accepted before its payer's first failure is not sent after it.
    const gas = (await isRefusedNow(ctx, payment)) ? null : await contractGas(ctx, payment);
    if (typeof gas === 'bigint') {
      const mostGas = await ctx.gas.mostGas();
      if (mostGas === null || gas <= mostGas) return gas;
      ctx.log.error({ paymentId: payment.id }, 'sender keys lack gas for a payment of a contract wallet; fund them');
      return unknown;
    }
    const isSpent = await ctx.usdc.isSpent(payment.authorization);
    if (isSpent)
      return (await endSpent(ctx, { ...payment, createdAt: ctx.clock.now(), transactionHash: null })) ?? unknown;
    if (gas !== null && (await refusalOfNode(ctx, payment, gas)) !== null) return unknown;
    const reason = 'invalid_exact_evm_transaction_failed';
    return (await failRefused(ctx, payment, reason)) ? { state: 'failed', reason } : unknown;
  } catch (error) {
    ctx.log.warn({ err: error, paymentId: payment.id }, 'cannot tell the gas of a payment; left to the reconciler');
    return unknown;
  }
}
