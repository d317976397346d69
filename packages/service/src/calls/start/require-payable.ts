import type { InvocationRequest } from '@agent-network/contracts/invocations/invocations';
import { formatUsdc, parseUsdc } from '@agent-network/contracts/money';
import type { KnownCaller } from '../../accounts/caller.ts';
import { AppError, invalid } from '../../lib/app-error.ts';
import type { PaymentConditions } from '../../payments/chain-outbox/chain-context.ts';
import type { Ledger } from '../../payments/ledger/ledger-services.ts';
import { availableToPay, findPayingTreasury, payingTreasury } from '../../payments/ledger/treasury.ts';
import type { PaymentScheme } from '../../payments/schemes/scheme.ts';
import { schemeOf, schemeOfPresented } from '../../payments/schemes/schemes.ts';
import type { PresentedPayment } from '../../payments/x402/presented-payment.ts';
import type { Store } from '../../store/database.ts';
import type { PaymentMethod } from '../invocation.ts';
import type { UsageTerms } from '../usage/rate-usage.ts';

/**
 * Throws for a price below the minimum that justifies the gas of an on-chain payment: VALIDATION_ERROR for a caller who asked for it although
 * its treasury covers the price; else INSUFFICIENT_FUNDS or INSUFFICIENT_BALANCE.
 */
export async function requirePayable(
  ctx: Store & Ledger & PaymentConditions,
  caller: KnownCaller,
  { shown, forced }: { readonly shown: PresentedPayment | null; readonly forced: 'x402' | 'treasury' | null },
  priceMicro: bigint,
): Promise<void> {
  const { minPaymentMicro } = ctx.paymentLimits;
  if (priceMicro >= minPaymentMicro) return;
  const least = formatUsdc(minPaymentMicro);
  const availableMicro = await availableToPay(ctx, caller);
  if (availableMicro < priceMicro) {
    const message = `Prices below ${least} USDC are paid from a treasury, not on chain.`;
    throw insufficient(caller, priceMicro, availableMicro, message);
  }
  const payment = shown?.version === 1 ? 'X-PAYMENT' : 'PAYMENT-SIGNATURE';
  throw invalid(
    forced === 'x402' ? 'X-Payment-Method' : payment,
    `must not be sent: prices below ${least} USDC are paid from your treasury, which has enough`,
  );
}

export function insufficient(
  caller: KnownCaller,
  requiredMicro: bigint,
  availableMicro: bigint,
  message?: string,
): AppError {
  const details = { required: formatUsdc(requiredMicro), available: formatUsdc(availableMicro) };
  return caller.kind === 'agent'
    ? new AppError(
        'INSUFFICIENT_BALANCE',
        message ?? "The agent's treasury balance is below the cost: deposit into it.",
        { details },
      )
    : new AppError(
        'INSUFFICIENT_FUNDS',
        message ?? 'The treasury balance is below the cost: deposit, or pay the call with x402.',
        { details },
      );
}

/** Throws VALIDATION_ERROR for a price above the most that the caller pays. */
export function requireAffordable(body: InvocationRequest, priceMicro: bigint, usageTerms: UsageTerms | null): void {
  if (body.maxCost !== undefined && parseUsdc(body.maxCost) < priceMicro)
    throw invalid('maxCost', belowPrice(priceMicro, usageTerms));
}

/** The fault of a limit below a price: a call that is paid by usage may come to its maximum, which is held. */
export const belowPrice = (priceMicro: bigint, usageTerms: UsageTerms | null): string =>
  usageTerms === null
    ? `is below the price of ${formatUsdc(priceMicro)} USDC`
    : `is below the most that a call may cost, ${formatUsdc(priceMicro)} USDC: its price follows what it uses, which is known afterwards; the most is held, and the rest given back`;

/** State of the paying treasury's available balance, without holds of running calls. `none`: there is no treasury. */
type Funds = 'none' | 'empty' | 'short';

/**
 * Answer to a call without a payment and with a treasury that can't pay. `terms`: 402, which x402 clients pay from their wallet. `refusal`:
 * 422 with the missing amount.
 */
export const answerTo: Readonly<Record<Funds, Readonly<Record<'open' | 'treasury', 'terms' | 'refusal'>>>> = {
  // `X-Payment-Method`: not sent, or `treasury`. With `x402` no treasury is asked.
  none: { open: 'terms', treasury: 'refusal' },
  empty: { open: 'terms', treasury: 'refusal' },
  short: { open: 'refusal', treasury: 'refusal' },
};

type Context = Store & Ledger & PaymentConditions;

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
  ctx: Ledger,
  caller: KnownCaller,
  { shown, forced }: { readonly shown: PresentedPayment | null; readonly forced: 'x402' | 'treasury' | null },
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
