import type { Api } from '@agent-network/contracts/api';
import { invokeKeyless } from '../../invocations/keyless/invoke-keyless.ts';
import { resultTokenOf } from '../../invocations/result-token.ts';
import { keylessResourceOf, resourceOf } from '../../invocations/start/invocation-purchase.ts';
import { invokeAgent } from '../../invocations/start/invoke-agent.ts';
import { invalid } from '../../lib/app-error.ts';
import { PaymentRequiredError } from '../../payments/x402/payment-required.ts';
import { SseAnswer } from '../answer/sse.ts';
import type { HandlerCall, Handlers } from '../request/handler.ts';
import type { HttpContext } from '../request/http-context.ts';
import { withExtensions } from '../request/unpaid-terms.ts';
import { answerInvoked } from './invocations.ts';
import { signedInWith } from './reader-of.ts';

type Call = HandlerCall<Api['invokeKeyless']>;

export const keylessHandlers = {
  invokeKeyless(ctx, call) {
    const { caller, params, body } = call;
    if (caller.kind === 'anonymous') return answerKeyless(ctx, call);
    const { agentId } = params;
    return answerInvoked(ctx, { ...call, caller }, resourceOf(agentId), (asked) =>
      invokeAgent(ctx, caller, { ...asked, agentId, quoteId: null, body, via: null, face: 'x402' }),
    );
  },
} satisfies Partial<Handlers>;

/** The token that reads on comes with every answer, in its body and, for a stream, in its header. */
async function answerKeyless(ctx: HttpContext, call: Call) {
  const { params, body, headers } = call;
  if (headers['x-payment-method'] === 'treasury')
    throw invalid('X-Payment-Method', 'must be x402: without an API key there is no treasury');
  const path = keylessResourceOf(params.agentId);
  const proof = {
    resultToken: headers['x-result-token'] ?? null,
    signedIn: await signedInWith(ctx, headers, [path]),
  };
  let resultToken: string | null = null;
  const answer = await answerInvoked(ctx, call, path, async (asked) => {
    const { agentId } = params;
    const key = {
      idempotencyKey: call.keylessKey,
      count: call.countPayer,
      isFromOtherSite: call.client.isFromOtherSite,
    };
    const invoked = await invokeKeyless(ctx, { ...asked, ...proof, ...key, agentId, body, face: 'x402' });
    if (!invoked.isWithheld) resultToken = resultTokenOf(ctx, invoked.invocation.id);
    if (resultToken !== null) call.setHeader('x-result-token', resultToken);
    return invoked;
  }).catch((error) => {
    if (!(error instanceof PaymentRequiredError)) throw error;
    throw withExtensions(ctx, error, params.agentId);
  });
  return answer instanceof SseAnswer || resultToken === null ? answer : { ...answer, resultToken };
}
