import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { AgentRef } from '../scalars.ts';
import {
  AgentToAgentResult,
  InvocationCreated,
  InvocationRequest,
  invocationErrors,
  invocationHeaders,
  keylessReadHeaders,
  paymentQuery,
  RequestRecord,
} from './invocations.ts';

const token = {
  resultToken: z
    .string()
    .optional()
    .describe(
      'Reads this request without a key: `X-Result-Token` of `GET /invoke/{requestId}` and of its stream. In answers to callers without a key who have shown that they made the call.',
    ),
  answerToken: z
    .string()
    .optional()
    .describe(
      'Of interactive calls: `X-Answer-Token` to answer and cancel this request without a key. Never put it in a URL.',
    ),
};

const KeylessMethod = z
  .enum(['x402', 'treasury', 'test_funds'])
  .optional()
  .describe(
    "Forces a payment method. test_funds: without a key or wallet, the node's faucet pays for the call in test money, where the node has one.",
  );

/** Answers of POST /x402/{agentId}: those of POST /invoke/{agentId}, with the token to read on. */
export const KeylessResult = z.union([
  AgentToAgentResult,
  RequestRecord.extend(token),
  InvocationCreated.extend(token),
]);

export const keylessEndpoints = {
  invokeKeyless: endpoint({
    method: 'POST',
    path: '/x402/{agentId}',
    summary: 'Invoke an agent without an API key: 402 with terms, paid by x402; free agents at once',
    tag: 'Invocation',
    auth: 'none',
    keyless: 'pays',
    gateway: 'x402',
    limit: 'invocations',
    params: z.object({ agentId: AgentRef }),
    query: paymentQuery,
    headers: invocationHeaders.extend({ ...keylessReadHeaders.shape, 'x-payment-method': KeylessMethod }),
    body: InvocationRequest,
    stream: 'on_request',
    data: KeylessResult,
    errors: invocationErrors,
  }),
};
