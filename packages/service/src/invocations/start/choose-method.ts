import type { KnownCaller } from '../../access/caller/caller.ts';
import { type HasSeenTreasuries, payingTreasury } from '../../payments/ledger/treasury.ts';
import type { PaymentScheme } from '../../payments/schemes/scheme.ts';
import { schemeOf, schemeOfPresented } from '../../payments/schemes/schemes.ts';
import type { Shown } from '../../payments/x402/payment-header.ts';
import type { PaymentMethod } from '../invocation.ts';
import { insufficient } from './require-payable.ts';
import { answerTo } from './unaffordable.ts';

interface Chosen {
  readonly method: PaymentMethod;
  /** null: the call is free. */
  readonly scheme: PaymentScheme | null;
  /** The treasury that pays; null: something else does. */
  readonly treasuryId: string | null;
}

/**
 * Chooses the way to pay (docs/design.md, section 4). Throws INSUFFICIENT_FUNDS where a treasury is forced and there is none.
 */
export async function chooseMethod(
  ctx: HasSeenTreasuries,
  caller: KnownCaller,
  { shown, forced }: { readonly shown: Shown | null; readonly forced: 'x402' | 'treasury' | null },
  priceMicro: bigint,
): Promise<Chosen> {
  if (priceMicro === 0n) return { method: 'free', scheme: null, treasuryId: null };
  const byX402 = { method: 'x402', scheme: schemeOfPresented(shown), treasuryId: null } as const;
  if (forced !== 'treasury' && (shown || forced === 'x402')) return byX402;
  const treasuryId = await payingTreasury(ctx, caller);
  if (treasuryId !== null) return { method: 'treasury', scheme: schemeOf({ scheme: 'treasury' }), treasuryId };
  if (answerTo.none[forced === 'treasury' ? 'treasury' : 'open'] === 'refusal')
    throw insufficient(caller, priceMicro, 0n);
  return byX402;
}
