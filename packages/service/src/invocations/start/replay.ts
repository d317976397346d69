import type { HasDb } from '../../db/database.ts';
import type { NewChainPayment } from '../../payments/onchain/chain-payment.ts';
import type { TakenDeposit } from '../../payments/x402/channels/take-deposit.ts';
import { paymentOf } from '../../payments/x402/claim-payments.ts';
import type { Due } from '../../payments/x402/payment-required.ts';
import type { Invocation } from '../invocation.ts';
import type { HasRunner } from '../places/runner.ts';

export interface Invoked {
  /** As accepted, or as found when the call had been made before. */
  readonly invocation: Invocation;
  /** Its end, when this process runs it. */
  readonly ending: Promise<Invocation> | null;
  /** The transfer that pays for it, if any, and the terms that it was asked by. */
  readonly payment: NewChainPayment | null;
  readonly due: Due;
  /** The deposit into a channel that came with the voucher; null: none. */
  readonly deposit: TakenDeposit | null;
  readonly isReplay: boolean;
}

/** A request that was made before. `payment`: its transfer, where it is known. */
export async function replayRequest(
  ctx: HasDb & HasRunner,
  invocation: Invocation,
  due: Due,
  payment: NewChainPayment | null = null,
): Promise<Invoked> {
  const { id, scheme } = invocation;
  const paid = payment ?? (scheme === 'exact' ? await paymentOf(ctx, id) : null);
  return { invocation, ending: ctx.runner.ending(id), payment: paid, due, deposit: null, isReplay: true };
}
