import type { KnownCaller } from '../../access/caller/caller.ts';
import { findMade } from '../../access/idempotency/once.ts';
import type { CallableAgent } from '../../agents/agent.ts';
import { invalid } from '../../lib/app-error.ts';
import { type Earlier, findEarlier } from '../../payments/schemes/find-earlier.ts';
import type { PayablePurchase } from '../../payments/x402/authorize-payment.ts';
import { isVoucher } from '../../payments/x402/payment-header.ts';
import type { Due } from '../../payments/x402/payment-required.ts';
import type { Invocation } from '../invocation.ts';
import { findInvocation } from '../invocation-store.ts';
import { priceAgain } from './find-price.ts';
import { AUTO, offeredAlternative, purchaseOf } from './invocation-purchase.ts';
import type { Input, InvokeContext, InvokeInput } from './invoke-input.ts';
import { type Invoked, replayRequest } from './replay.ts';

export const wasPaid = ({ errorCode }: Invocation) => errorCode !== 'payment_failed';

/** A call as its names say whether it was made before. */
export interface Named {
  readonly input: Input;
  /** The call that it repeats; null: it is a new one. */
  readonly earlier: Invoked | null;
  /** The alternative or chosen agent that the shown payment was offered for, while the offer holds. */
  readonly offeredId: string | null;
  /** The purchase of that agent, at this price. */
  readonly buy: (amountMicro: bigint) => PayablePurchase;
}

/**
 * Finds the call that this one repeats: by its Idempotency-Key, or by the presented payment (`findEarlier`). A settled payment is honoured,
 * even if the agent or the quote has changed since. `looking`: the agent asked for; null: the node chooses one.
 */
export async function findEarlierCall(
  ctx: InvokeContext,
  caller: KnownCaller,
  given: InvokeInput,
  looking: Promise<CallableAgent> | null,
): Promise<Named> {
  const { made, id: requestId } = await findMade(ctx, given.once, 'req', (id) => findInvocation(ctx.db, id), wasPaid);
  const input: Input = { ...given, requestId };
  const buyFrom = (alternativeId: string | null, amountMicro: bigint) =>
    purchaseOf(ctx, caller, input, { amountMicro, alternativeId });
  const dueFor = (invocation: Invocation, amountMicro = invocation.priceMicro): Due =>
    buyFrom(alternativeOf(input, invocation), amountMicro).due;
  const named = { input, offeredId: null, buy: (amountMicro: bigint) => buyFrom(null, amountMicro) };
  if (made) return { ...named, earlier: await replayRequest(ctx, made, dueFor(made)) };

  requireOfferInPayment(input);
  const { offeredId, echoedId } = offeredAlternative(ctx, caller, input);
  const buy = (amountMicro: bigint) => buyFrom(offeredId, amountMicro);
  const { shown } = input;
  const earlier = await findEarlier(ctx, shown, shown && isVoucher(shown) ? buyFrom(echoedId, 0n) : buy(0n));
  const invocation = earlier && (await requestOf(ctx, earlier));
  if (!earlier || !invocation) return { input, offeredId, buy, earlier: null };
  const { payment } = earlier;
  if (!payment) return { input, offeredId, buy, earlier: await replayRequest(ctx, invocation, dueFor(invocation)) };
  const { valueMicro } = payment.authorization;
  const isPriceKnown = payment.state === 'settled' || looking === null;
  const amountMicro = isPriceKnown
    ? valueMicro
    : await priceAgain(ctx, caller, input, { found: payment, offeredId, looking });
  const due = looking === null ? dueFor(invocation, amountMicro) : buy(amountMicro).due;
  return { input, offeredId, buy, earlier: await replayRequest(ctx, invocation, due, payment) };
}

/**
 * The call that came between: a concurrent repetition was accepted, or the purchase was paid by another scheme. null: there is none.
 */
export async function findConcurrent(
  ctx: InvokeContext,
  { shown }: Pick<Input, 'shown'>,
  purchase: PayablePurchase,
): Promise<Invoked | null> {
  const earlier = await findEarlier(ctx, shown, purchase, { isLate: true });
  const invocation = earlier && (await requestOf(ctx, earlier));
  if (!earlier || !invocation) return null;
  return replayRequest(ctx, invocation, purchase.due, earlier.payment);
}

/** Throws VALIDATION_ERROR for a payment of x402 version 1 where the node may choose the agent: only version 2 names the one that it is for. */
function requireOfferInPayment({ shown, agentId, body }: Input): void {
  if (shown?.version !== 1) return;
  if (agentId === AUTO)
    throw invalid('X-PAYMENT', 'must be a payment of x402 version 2, which names the agent that it is for');
  if (body.fallback)
    throw invalid('fallback', 'needs a payment of x402 version 2, which names the agent that it is for');
}

/** null: it was removed. A transfer is kept with its request. */
async function requestOf(ctx: InvokeContext, { requestId, payment }: Earlier): Promise<Invocation | null> {
  const invocation = await findInvocation(ctx.db, requestId);
  if (!invocation && payment) throw new Error(`payment ${payment.id} has no invocation ${requestId}`);
  return invocation;
}

/** The agent that a request's offer named in place of the one asked for; null: that one itself. */
const alternativeOf = ({ agentId }: Input, invocation: Invocation): string | null =>
  agentId === AUTO || invocation.requestedAgentId !== null ? invocation.agentId : null;
