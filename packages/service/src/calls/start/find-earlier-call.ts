import type { KnownCaller } from '../../accounts/caller.ts';
import { findByIdempotencyKey, type Once } from '../../accounts/idempotency/once.ts';
import type { CallableAgent } from '../../agents/agent.ts';
import { invalid } from '../../lib/app-error.ts';
import { isVoucher } from '../../payments/schemes/batch-settlement/channel-on-wire.ts';
import type { PayablePurchase } from '../../payments/schemes/exact/authorize-payment.ts';
import { type Earlier, findEarlier } from '../../payments/schemes/find-earlier.ts';
import type { PaymentTerms } from '../../payments/x402/payment-required.ts';
import { isDuplicate } from '../../store/database-away.ts';
import { DeadlinePassedError } from '../deadline.ts';
import type { Invocation } from '../invocation.ts';
import { findInvocation } from '../invocation-store.ts';
import { priceAgain } from '../pricing/find-price.ts';
import { AUTO, offeredAlternative, purchaseOf } from './invocation-purchase.ts';
import { type Input, type InvokeContext, type Invoked, type InvokeInput, replayRequest } from './invoke-input.ts';

export const wasPaid = ({ errorCode }: Invocation) => errorCode !== 'payment_failed';

/** A call as its names say whether it was made before. */
export interface Named {
  readonly input: Input;
  /** The call that it repeats; null: it is a new one. */
  readonly earlier: Invoked | null;
  /** The alternative or chosen agent that the shown payment was offered for, while the offer holds. */
  readonly offeredId: string | null;
  /** The purchase of that agent, at this price. */
  readonly purchaseFor: (amountMicro: bigint) => PayablePurchase;
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
  // Of a key that is not taken, the acceptance finds out whether it has a request.
  const { made, id: requestId } = given.once.late
    ? { made: null, id: given.once.idsFor('req', 1)[0] ?? null }
    : await findByIdempotencyKey(ctx, given.once, 'req', (id) => findInvocation(ctx.db, id), wasPaid);
  const input: Input = { ...given, requestId };
  const purchaseFrom = (alternativeId: string | null, amountMicro: bigint) =>
    purchaseOf(ctx, caller, input, { amountMicro, alternativeId });
  const dueFor = (invocation: Invocation, amountMicro = invocation.priceMicro): PaymentTerms =>
    purchaseFrom(alternativeOf(input, invocation), amountMicro).due;
  if (made) {
    const purchaseFor = (amountMicro: bigint) => purchaseFrom(null, amountMicro);
    return { input, offeredId: null, purchaseFor, earlier: await replayRequest(ctx, made, dueFor(made)) };
  }

  requireOfferInPayment(input);
  const { offeredId, echoedId } = offeredAlternative(ctx, caller, input);
  const purchaseFor = (amountMicro: bigint) => purchaseFrom(offeredId, amountMicro);
  const { shown } = input;
  const earlier = await findEarlier(
    ctx,
    shown,
    shown && isVoucher(shown) ? purchaseFrom(echoedId, 0n) : purchaseFor(0n),
  );
  const invocation = earlier && (await requestOf(ctx, earlier));
  if (!earlier || !invocation) return { input, offeredId, purchaseFor, earlier: null };
  const { payment } = earlier;
  const termsAgain = async (): Promise<PaymentTerms> => {
    if (payment === null) return dueFor(invocation);
    const { valueMicro } = payment.authorization;
    if (looking === null) return dueFor(invocation, valueMicro);
    if (payment.state === 'settled') return purchaseFor(valueMicro).due;
    return purchaseFor(await priceAgain(ctx, caller, input, { found: payment, offeredId, looking })).due;
  };
  return { input, offeredId, purchaseFor, earlier: await replayRequest(ctx, invocation, await termsAgain(), payment) };
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

/** The parts of a call by which a repetition is recognised. */
interface Repeatable {
  /** The payment that is shown; null: none. */
  readonly shown: object | null;
  readonly once: Once;
}

/**
 * Decides a call again if a concurrent repetition may have been accepted, and then returns its result. Two errors lead here. The deadline
 * of a paid call has passed: a caller must not get a refusal for a call that it paid for. Or the id exists: another process took over the
 * Idempotency-Key, or another payment used the offer.
 */
export async function retryAsReplay<T>({ shown, once }: Repeatable, decide: () => Promise<T>): Promise<T> {
  try {
    return await decide();
  } catch (error) {
    const hasName = shown !== null || once.idsFor('req', 1).length > 0;
    const mayBeMade = error instanceof DeadlinePassedError ? shown !== null : isDuplicate(error) && hasName;
    if (!mayBeMade) throw error;
    return decide();
  }
}
