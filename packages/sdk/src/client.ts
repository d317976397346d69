import type { Route } from '@agent-network/contracts/endpoint';
import { routes } from '@agent-network/contracts/wire.generated';
import { SecretShownError } from './api-error.ts';
import { buildRequest, type CallParts } from './build-request.ts';
import type { CallOptions, Client, StreamOptions } from './client-types.ts';
import { followEvents } from './follow-events.ts';
import { followInvocation, invokeStreaming } from './follow-stream.ts';
import type { Payer } from './payer.ts';
import { sendPaying } from './send-paying.ts';
import { type SendOptions, sendRequest } from './send-request.ts';

export interface ClientOptions {
  readonly baseUrl: string;
  /** An API key, or an agent's identityToken to call as that agent. Reading the registry needs none. */
  readonly apiKey?: string | undefined;
  /** Pays calls that return 402. Without a payer, 402 is thrown as `ApiError`. */
  readonly payer?: Payer;
  readonly fetch?: typeof fetch;
  /** Repeats after the first attempt of a call; default 3. */
  readonly maxRetries?: number;
  /** Timeout of one attempt; default 60,000. */
  readonly timeoutMs?: number;
}

const sendOptions = (client: ClientOptions, options: CallOptions): SendOptions => ({
  // A browser's own is called as a function only: as a method it fails.
  fetch: (...args) => (client.fetch ?? fetch)(...args),
  timeoutMs: options.timeoutMs ?? client.timeoutMs ?? 60_000,
  signal: options.signal,
  maxRetries: client.maxRetries ?? 3,
});

function methodOf(client: ClientOptions, row: Route) {
  if (row.stream === 'always')
    return (call: CallParts, options: CallOptions = {}) =>
      followInvocation(buildRequest(client, row, call, options), sendOptions(client, options));
  return async (call: CallParts = {}, options: CallOptions = {}) => {
    const request = buildRequest(client, row, call, options);
    const { answer } = await sendPaying(client.payer, request, sendOptions(client, options), sendRequest);
    requireSecret(row, answer);
    return answer;
  };
}

/** Throws if an answer lacks its secret, because an earlier attempt, or another client, has already received it. */
function requireSecret({ hasSecret }: Route, answer: unknown): void {
  const { secretNotice } = (answer ?? {}) as { readonly secretNotice?: string };
  if (hasSecret && secretNotice !== undefined) throw new SecretShownError(secretNotice, answer as object);
}

function streamsOf(client: ClientOptions): Pick<Client, 'stream' | 'followEvents' | 'invokeStreaming'> {
  const follow = (requestId: string, { after, ...options }: StreamOptions = {}) => {
    const headers = after ? { 'last-event-id': after } : {};
    const request = buildRequest(client, routes.streamInvocation, { params: { requestId }, headers }, options);
    return followInvocation(request, sendOptions(client, options));
  };
  return {
    stream: follow,
    followEvents({ after, type, onOpen, ...options } = {}) {
      const call = { query: { after, type }, headers: { accept: 'text/event-stream' } };
      return followEvents(buildRequest(client, routes.listEvents, call, options), sendOptions(client, options), onOpen);
    },
    invokeStreaming(agentId, body, { headers, quote, ...options } = {}) {
      const call = {
        params: { agentId },
        query: { quote },
        headers: { ...headers, accept: 'text/event-stream' },
        body: { ...body, stream: true },
      };
      const request = buildRequest(client, routes.invokeAgent, call, options);
      const sending = sendOptions(client, options);
      const open = { request, sending, payer: client.payer };
      return invokeStreaming(open, (requestId, after) => follow(requestId, { ...options, after }));
    },
  };
}

/**
 * A client of one node with a method per endpoint, each resolving to the `data` of its answer, and three that stream. Throws
 * `ApiError` for the node's errors, `NoAnswerError` when none came, `PaymentRefusedError` when the payer declined and
 * `SecretShownError` when it is done but its secret went out with an answer that was lost. Calls are
 * repeated when that may help; every repeat has the same Idempotency-Key and the same payment, so nothing is done or paid twice.
 */
export function createClient(options: ClientOptions): Client {
  const methods = Object.entries(routes).map(([name, row]) => [name, methodOf(options, row)]);
  return { ...Object.fromEntries(methods), ...streamsOf(options) } as Client;
}
