import { awaitInvocation } from '../../invocations/await-invocation.ts';
import { hasEnded, type Invocation } from '../../invocations/invocation.ts';
import { toAgentResult, toCreated, toRecord } from '../../invocations/invocation-view.ts';
import { invokeAgent } from '../../invocations/invoke-agent.ts';
import { quoteInvocation } from '../../invocations/quote-invocation.ts';
import { readInvocation } from '../../invocations/read-invocation.ts';
import { readPaymentHeader } from '../../payments/x402/payment-header.ts';
import type { Handlers } from '../handler.ts';
import { setPaymentResponse } from '../payment-response.ts';

/** Spec: synchronous mode is for tasks under 30 seconds; after that the answer is the created shape. */
const SYNC_WAIT_MS = 30_000;

export const invocationHandlers = {
  async invokeAgent(ctx, call) {
    const { caller, params, query, headers, body } = call;
    const shown = readPaymentHeader(headers);
    const isSync = headers['x-sync'] === 'true';
    const invoked = await invokeAgent(ctx, caller, {
      agentId: params.agentId,
      quoteId: query.quote ?? null,
      body,
      shown,
      forced: headers['x-payment-method'] ?? null,
      isAwaited: isSync || shown !== null,
    });
    if (invoked.isReplay) await call.uncount();
    const isAwaited = isSync || invoked.payment !== null;
    const invocation = isAwaited ? await awaitInvocation(ctx, invoked, SYNC_WAIT_MS) : invoked.invocation;
    if (invoked.payment && invocation.paymentHash) {
      const { authorization, x402Version } = invoked.payment;
      const paid = { payer: authorization.from, version: x402Version ?? 2, transactionHash: invocation.paymentHash };
      setPaymentResponse(ctx, call, paid);
    }
    return isAwaited ? shownAs(invocation, caller.kind === 'agent') : toCreated(invocation);
  },
  quoteInvocation: (ctx, { caller, params, body }) => quoteInvocation(ctx, caller, params.agentId, body),
  getInvocation: (ctx, { caller, params }) => readInvocation(ctx, caller, params.requestId),
} satisfies Partial<Handlers>;

function shownAs(invocation: Invocation, isForAgent: boolean) {
  if (!hasEnded(invocation.status)) return toCreated(invocation);
  return isForAgent ? toAgentResult(invocation) : toRecord(invocation);
}
