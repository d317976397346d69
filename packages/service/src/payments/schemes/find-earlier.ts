import type { ChainPayment } from '../chain-outbox/chain-payment.ts';
import type { PresentedPayment } from '../x402/presented-payment.ts';
import { findBoughtBefore } from './batch-settlement/authorize-voucher.ts';
import { findPresentedBefore, type PayablePurchase } from './exact/authorize-payment.ts';
import { isTransfer } from './exact/exact-on-wire.ts';
import type { SchemeContext } from './scheme.ts';

/** The request that a purchase was before, and the transfer that paid for it, where that is known already. */
export interface Earlier {
  readonly requestId: string;
  readonly payment: ChainPayment | null;
}

/**
 * The earlier request of this purchase, under any of its names: the nonce of the presented authorization, the offer that it answers, the
 * client's identifier, the Idempotency-Key; null: none, or nothing is presented. Throws CONFLICT when one of these names belongs to another
 * purchase. `isLate`: an acceptance was refused, or waited for another, so every scheme and every expired offer counts. Before that, a
 * transfer matches transfers only; claiming it finds other uses of its names.
 */
export async function findEarlier(
  ctx: SchemeContext,
  shown: PresentedPayment | null,
  purchase: PayablePurchase,
  { isLate = false }: { readonly isLate?: boolean } = {},
): Promise<Earlier | null> {
  if (shown === null) return null;
  const payment = await findPresentedBefore(ctx, shown, purchase, { isLate });
  if (payment) return { requestId: payment.subjectId, payment };
  if (!isLate && isTransfer(shown)) return null;
  const requestId = await findBoughtBefore(ctx, shown, purchase);
  return requestId === null ? null : { requestId, payment: null };
}
