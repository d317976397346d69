import type { AutoRequest } from '@agent-network/contracts/invocations/auto';
import { parseUsdc } from '@agent-network/contracts/money';
import type { KnownCaller } from '../../access/caller/caller.ts';
import { findMade } from '../../access/idempotency/once.ts';
import { invalid } from '../../lib/app-error.ts';
import type { HasSeenTreasuries } from '../../payments/ledger/treasury.ts';
import type { HasPaymentLimits } from '../../payments/onchain/payment-limits.ts';
import { findShownBefore } from '../../payments/x402/authorize-payment.ts';
import { findInvocation } from '../invocation-store.ts';
import { withPresentAgent } from './agent-changed.ts';
import { chooseMatch } from './choose-match.ts';
import { chooseMeans } from './choose-means.ts';
import { AUTO, offeredAlternative, purchaseOf } from './invocation-purchase.ts';
import { type Input, type InvokeContext, type InvokeInput, startChosen, wasPaid } from './invoke-agent.ts';
import { orRepetition } from './or-repetition.ts';
import { findBoughtByVoucher } from './pay-by-voucher.ts';
import { type Invoked, replay, replayRequest } from './replay.ts';

type AutoInput = Omit<InvokeInput, 'agentId' | 'quoteId' | 'via' | 'body'> & { readonly body: AutoRequest };

/**
 * Starts an invocation of the agent that matches the task best, or finds the one that the key or the shown payment was for. A payment pays
 * for the agent that its offer named, and for no other. Nothing is stored before the choice is accepted together with its payment: a process
 * that dies until then has chosen nothing.
 */
export const invokeAuto = (ctx: InvokeContext, caller: KnownCaller, input: AutoInput): Promise<Invoked> =>
  withPresentAgent(ctx, () => orRepetition(input, () => invokePresent(ctx, caller, input)));

/** Throws AgentChangedError when the chosen agent changed before the request was stored: then the choice is made anew. */
async function invokePresent(ctx: InvokeContext, caller: KnownCaller, given: AutoInput): Promise<Invoked> {
  const { made, id: requestId } = await findMade(ctx, given.once, 'req', (id) => findInvocation(ctx.db, id), wasPaid);
  const input: Input & AutoInput = { ...given, agentId: AUTO, quoteId: null, via: null, requestId };
  const buy = (alternativeId: string | null, amountMicro: bigint) =>
    purchaseOf(ctx, caller, input, { amountMicro, alternativeId });
  if (made) return replayRequest(ctx, made, buy(made.agentId, made.priceMicro).due);
  if (input.shown?.version === 1)
    throw invalid('X-PAYMENT', 'must be a payment of x402 version 2, which names the agent that it is for');
  const { offeredId, echoedId } = offeredAlternative(ctx, caller, input);
  const bought = await findBoughtByVoucher(ctx, input.shown, buy(echoedId, 0n));
  if (bought) return replayRequest(ctx, bought, buy(bought.agentId, bought.priceMicro).due);
  const found = input.shown && (await findShownBefore(ctx, input.shown, buy(offeredId, 0n)));
  if (found) {
    const invocation = await findInvocation(ctx.db, found.subjectId);
    if (!invocation) throw new Error(`payment ${found.id} has no invocation ${found.subjectId}`);
    return replay(ctx, found, buy(invocation.agentId, found.authorization.valueMicro).due);
  }
  const asked = { body: input.body, offeredId, leastMicro: await leastPayable(ctx, caller, input) };
  return startChosen(ctx, caller, input, await chooseMatch(ctx, caller, asked));
}

/** The lowest price above 0 that the caller can pay: on chain there is a minimum, which a dearer agent is chosen for. */
async function leastPayable(
  ctx: HasSeenTreasuries & HasPaymentLimits,
  caller: KnownCaller,
  { shown, forced, body }: AutoInput,
): Promise<bigint> {
  if (forced === 'treasury') return 0n;
  const { method } = await chooseMeans(ctx, caller, { shown, forced }, parseUsdc(body.maxCost));
  return method === 'x402' ? ctx.paymentLimits.minPaymentMicro : 0n;
}
