import type { HasUsdc } from '../../chain/usdc-client.ts';
import type { NewChainPayment } from './chain-payment.ts';

/** Depth required of evidence that a payment cannot happen any more, so that the next reorg does not undo it. */
export const FINAL_DEPTH = 12n;

/** True if the authorization was unused when its expiry was as deep as no reorg reaches. */
export async function hasExpiredForGood(
  ctx: HasUsdc,
  { authorization }: Pick<NewChainPayment, 'authorization'>,
): Promise<boolean> {
  const head = await ctx.usdc.headBlock();
  if (head < FINAL_DEPTH) return false;
  const finalS = await ctx.usdc.timeOfS(head - FINAL_DEPTH);
  if (finalS === null || authorization.validBeforeS > finalS) return false;
  const [isSpent] = await ctx.usdc.areSpent([authorization], head);
  return isSpent === false;
}
