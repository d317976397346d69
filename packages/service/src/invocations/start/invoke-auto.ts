import type { AutoRequest } from '@agent-network/contracts/invocations/auto';
import { parseUsdc } from '@agent-network/contracts/money';
import type { KnownCaller } from '../../access/caller/caller.ts';
import type { HasSeenTreasuries } from '../../payments/ledger/treasury.ts';
import type { HasPaymentLimits } from '../../payments/onchain/payment-limits.ts';
import { withPresentAgent } from './agent-changed.ts';
import { chooseMatch } from './choose-match.ts';
import { chooseMethod } from './choose-method.ts';
import { findEarlierCall } from './find-earlier-call.ts';
import { AUTO } from './invocation-purchase.ts';
import { startChosen } from './invoke-agent.ts';
import type { InvokeContext, InvokeInput } from './invoke-input.ts';
import { orRepetition } from './or-repetition.ts';
import type { Invoked } from './replay.ts';

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
  const asAuto = { ...given, agentId: AUTO, quoteId: null, via: null };
  const { input, earlier, offeredId } = await findEarlierCall(ctx, caller, asAuto, null);
  if (earlier) return earlier;
  const asked = { body: given.body, offeredId, leastMicro: await leastPayable(ctx, caller, given) };
  return startChosen(ctx, caller, input, await chooseMatch(ctx, caller, asked));
}

/** The lowest price above 0 that the caller can pay: on chain there is a minimum, which a dearer agent is chosen for. */
async function leastPayable(
  ctx: HasSeenTreasuries & HasPaymentLimits,
  caller: KnownCaller,
  { shown, forced, body }: AutoInput,
): Promise<bigint> {
  if (forced === 'treasury') return 0n;
  const { method } = await chooseMethod(ctx, caller, { shown, forced }, parseUsdc(body.maxCost));
  return method === 'x402' ? ctx.paymentLimits.minPaymentMicro : 0n;
}
