import { depthFor, isDeepEnough } from '../../chain/confirmation-depth.ts';
import { until } from '../../lib/concurrency/until.ts';
import type { ChainContext } from '../onchain/chain-context.ts';
import type { NewChainPayment } from '../onchain/chain-payment.ts';
import { endSpent } from './end-spent.ts';
import type { Confirming, SettleOutcome } from './record-mined.ts';

/** Maximum wait for a payment's confirmation depth. */
const CONFIRMED_WITHIN_MS = 20_000;

/**
 * Settles a payment once its block is deep enough, if that happens in time. The payment is looked up again then, as a reorg may have moved
 * it.
 */
export async function awaitDepth(
  ctx: ChainContext,
  payment: NewChainPayment,
  { transactionHash, blockNumber }: Confirming,
  signal: AbortSignal,
): Promise<SettleOutcome> {
  const depth = depthFor(ctx.confirmations, payment.authorization.valueMicro);
  const look = async (): Promise<SettleOutcome | null> => {
    try {
      if (!isDeepEnough(depth, blockNumber, await ctx.usdc.headBlock())) return null;
      const isSpent = await ctx.usdc.isSpent(payment.authorization);
      return isSpent ? await endSpent(ctx, { ...payment, createdAt: ctx.clock.now(), transactionHash }) : null;
    } catch (error) {
      ctx.log.warn({ err: error, paymentId: payment.id }, 'cannot check the confirmation depth of a payment');
      return null;
    }
  };
  const options = { timeoutMs: CONFIRMED_WITHIN_MS, firstMs: 100, mostMs: 500, signal };
  const outcome = await until(look, options).catch(() => null);
  return outcome ?? { state: 'unknown', transactionHash };
}
