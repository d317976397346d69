import type { InvocationRequest } from '@agent-network/contracts/invocations/invocations';
import type { KnownCaller } from '../../accounts/caller.ts';
import type { CallableAgent } from '../../agents/agent.ts';
import type { AgentServices } from '../../agents/agent-services.ts';
import { countUnits } from '../../agents/count-units.ts';
import type { ChainPayment } from '../../payments/chain-outbox/chain-payment.ts';
import { isOpen } from '../../payments/chain-outbox/chain-payment-state.ts';
import { type PaymentTerms, paymentRequired } from '../../payments/x402/payment-required.ts';
import { requireAtHome } from '../remote/require-at-home.ts';
import { hasPricesWithinClass, priceOf } from './price.ts';
import { type LockedPrice, quotedPrice } from './quote-invocation.ts';

type PriceContext = Parameters<typeof lockedPrice>[0] & AgentServices;

/** The parts of a call that decide its price. */
interface Priced {
  readonly quoteId: string | null;
  readonly body: InvocationRequest;
  readonly via: string | null;
  readonly shown: object | null;
  readonly keyless?: object;
}

/** The requested agent, and the price of the call. Throws VALIDATION_ERROR for an input that the agent does not accept. */
export async function findPriced(
  ctx: PriceContext,
  caller: KnownCaller,
  input: Priced,
  looking: Promise<CallableAgent>,
): Promise<{ readonly asked: CallableAgent; readonly price: Awaited<ReturnType<typeof lockedPrice>> }> {
  const asked = await looking;
  requireAtHome(asked, caller, input.via);
  const requireInput = () => ctx.typeChecks.requireInput(asked, input.body, caller);
  const hasPrice = asked.perUnit === null || countUnits(asked.perUnit, input.body.input) !== null;
  // Whoever asks a wallet's price is told that, whatever else is wrong with the body; it is refused when the payment is here.
  const isUnpaid = input.keyless !== undefined && input.shown === null && hasPrice;
  if (!isUnpaid) await requireInput();
  const price = await lockedPrice(ctx, caller, asked, input);
  if (isUnpaid && price.priceMicro === 0n) await requireInput();
  return { asked, price };
}

/**
 * The terms to repeat if a payment that was shown before has failed. While it is in flight, a present refusal is not the answer: the call
 * may have run.
 */
export async function priceAgain(
  ctx: PriceContext,
  caller: KnownCaller,
  input: Priced,
  shown: { found: ChainPayment; offeredId: string | null; looking: Promise<CallableAgent> },
): Promise<bigint> {
  const { found, offeredId, looking } = shown;
  const { valueMicro } = found.authorization;
  try {
    const { price } = await findPriced(ctx, caller, input, looking);
    return offeredId ? valueMicro : price.priceMicro;
  } catch (error) {
    if (isOpen(found.state)) return valueMicro;
    throw error;
  }
}

/** The price of a call: as the caller's quote locks it, else as the agent's rates are. */
async function lockedPrice(
  ctx: Parameters<typeof quotedPrice>[0],
  caller: KnownCaller,
  agent: CallableAgent,
  { quoteId, body }: { readonly quoteId: string | null; readonly body: InvocationRequest },
): Promise<LockedPrice> {
  if (quoteId) return quotedPrice(ctx, caller, agent, quoteId, body);
  const { totalMicro: priceMicro, usageTerms } = priceOf(agent, body);
  return { priceMicro, usageTerms, shownShare: agent.shownShare, isUsed: false };
}

/** An offer is bound to a class of calls, not to units and sizes: throws 402 when it was made for fewer units or a smaller call. */
export function requirePaidInFull(
  ctx: Parameters<typeof paymentRequired>[0],
  { agent, priceMicro }: { readonly agent: CallableAgent; readonly priceMicro: bigint },
  paidMicro: bigint,
  due: PaymentTerms,
): void {
  if (hasPricesWithinClass(agent) && paidMicro < priceMicro) throw paymentRequired(ctx, due, 'invalid_offer');
}
