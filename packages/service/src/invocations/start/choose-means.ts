import type { KnownCaller } from '../../access/caller/caller.ts';
import { type HasSeenTreasuries, payingTreasury } from '../../payments/ledger/treasury.ts';
import type { PaymentMethod } from '../invocation.ts';
import { insufficient } from './require-payable.ts';
import { answerTo } from './unaffordable.ts';

export interface Means {
  readonly method: PaymentMethod;
  /** null: nothing is held, or the payer is known with the payment. */
  readonly payerLedgerId: string | null;
}

/**
 * Chooses the way to pay (docs/design.md, section 4). Throws INSUFFICIENT_FUNDS where a treasury is forced and there is none.
 */
export async function chooseMeans(
  ctx: HasSeenTreasuries,
  caller: KnownCaller,
  input: { readonly shown: unknown; readonly forced: 'x402' | 'treasury' | null },
  priceMicro: bigint,
): Promise<Means> {
  if (priceMicro === 0n) return { method: 'free', payerLedgerId: null };
  if (input.forced !== 'treasury' && (input.shown || input.forced === 'x402'))
    return { method: 'x402', payerLedgerId: null };
  const treasury = await payingTreasury(ctx, caller);
  if (treasury) return { method: 'treasury', payerLedgerId: treasury };
  if (answerTo.none[input.forced === 'treasury' ? 'treasury' : 'open'] === 'refusal')
    throw insufficient(caller, priceMicro, 0n);
  return { method: 'x402', payerLedgerId: null };
}
