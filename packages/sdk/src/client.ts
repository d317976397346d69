import { api } from '@agent-network/contracts/api';
import type { Endpoint } from '@agent-network/contracts/endpoint';
import { ApiError, isApiError, NoAnswerError, type PaymentHeaders } from './api-error.ts';
import { buildRequest, type CallParts, type HttpRequest } from './build-request.ts';
import type { CallOptions, Client } from './client-types.ts';
import type { Payer } from './payer.ts';
import { type SendOptions, sendRequest } from './send-request.ts';

export interface ClientOptions {
  readonly baseUrl: string;
  /** An API key, or an agent's identityToken to call as that agent. Reading the registry needs none. */
  readonly apiKey?: string | undefined;
  /** Pays what a call asks for with 402. Without one, 402 is thrown as `ApiError`. */
  readonly payer?: Payer;
  readonly fetch?: typeof fetch;
  /** Repeats after the first attempt of a call that is safe to repeat; default 3. */
  readonly maxRetries?: number;
  /** Of one attempt; default 60,000. */
  readonly timeoutMs?: number;
}

/** A paid call is repeated more often: giving up on it leaves the caller unsure of its money. */
const paidRetries = 8;

async function sendPaid(request: HttpRequest, payment: PaymentHeaders, options: SendOptions): Promise<unknown> {
  const paid = { ...request, headers: { ...request.headers, ...payment } };
  try {
    return await sendRequest(paid, { ...options, maxRetries: Math.max(options.maxRetries, paidRetries) });
  } catch (error) {
    if (error instanceof ApiError || error instanceof NoAnswerError) error.paymentHeaders = payment;
    throw error;
  }
}

function shownPayment(request: HttpRequest): boolean {
  return Object.keys(request.headers).some((name) => /^(payment-signature|x-payment)$/i.test(name));
}

async function callEndpoint(client: ClientOptions, row: Endpoint, call: CallParts, options: CallOptions) {
  const request = buildRequest({ baseUrl: client.baseUrl, apiKey: client.apiKey }, row, call, options);
  const safeToRepeat = row.method !== 'POST' || shownPayment(request);
  let terms: string | null = null;
  const sending: SendOptions = {
    fetch: client.fetch ?? fetch,
    timeoutMs: options.timeoutMs ?? client.timeoutMs ?? 60_000,
    signal: options.signal,
    maxRetries: client.maxRetries ?? 3,
    onResponse: (response) => {
      terms = response.headers.get('payment-required');
    },
  };
  try {
    return await sendRequest(request, safeToRepeat ? sending : { ...sending, maxRetries: 0 });
  } catch (error) {
    if (!client.payer || !isApiError(error, 'PAYMENT_REQUIRED') || shownPayment(request)) throw error;
    return sendPaid(request, await client.payer.pay(terms ?? ''), sending);
  }
}

/**
 * A client of one node with a method per endpoint, each resolving to the `data` of its answer. Throws `ApiError` for the
 * node's errors, `NoAnswerError` when none came and `PaymentRefusedError` when the payer declined. A payment is signed at
 * most once per call, and the same bytes are shown on every repeat.
 */
export function createClient(options: ClientOptions): Client {
  const methods = Object.entries<Endpoint>(api).map(([name, row]) => [
    name,
    (call: CallParts = {}, callOptions: CallOptions = {}) => callEndpoint(options, row, call, callOptions),
  ]);
  return Object.fromEntries(methods) as Client;
}
