import type { KnownCaller } from '../../access/caller/caller.ts';
import type { HasDb } from '../../db/database.ts';
import { findPayingTreasury, type HasSeenTreasuries } from '../../payments/ledger/treasury.ts';
import type { HasPaymentLimits } from '../../payments/onchain/payment-limits.ts';
import { insufficient } from './require-payable.ts';

/** What the treasury that would pay holds, beside what running calls have set aside. `none`: there is no treasury. */
type Funds = 'none' | 'empty' | 'short';

/**
 * The answer to a call that came without a payment and whose treasury cannot pay: `terms` is 402, which clients of x402 pay by their wallet;
 * `refusal` is 422, which says what is missing.
 */
export const answerTo: Readonly<Record<Funds, Readonly<Record<'open' | 'treasury', 'terms' | 'refusal'>>>> = {
  // `X-Payment-Method`: not sent, or `treasury`. With `x402` no treasury is asked.
  none: { open: 'terms', treasury: 'refusal' },
  empty: { open: 'terms', treasury: 'refusal' },
  short: { open: 'refusal', treasury: 'refusal' },
};

type Context = HasDb & HasSeenTreasuries & HasPaymentLimits;

interface Unpaid {
  readonly forced: 'x402' | 'treasury' | null;
  readonly priceMicro: bigint;
  readonly availableMicro: bigint;
  /** The 402 of the call. */
  readonly terms: () => Error;
}

/** The error of a call that the treasury cannot pay. An agent's own treasury is its only means, and so is any for a price too small for the chain. */
export async function unaffordable(
  ctx: Context,
  caller: KnownCaller,
  { forced, priceMicro, availableMicro, terms }: Unpaid,
): Promise<Error> {
  const refusal = insufficient(caller, priceMicro, availableMicro);
  if (caller.kind === 'agent' || priceMicro < ctx.paymentLimits.minPaymentMicro) return refusal;
  const treasury = await findPayingTreasury(ctx, caller);
  const funds: Funds = !treasury ? 'none' : treasury.postedMicro === 0n ? 'empty' : 'short';
  return answerTo[funds][forced === 'treasury' ? 'treasury' : 'open'] === 'terms' ? terms() : refusal;
}
