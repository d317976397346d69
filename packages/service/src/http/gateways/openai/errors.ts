import type { GatewayError } from '../common/gateway-error.ts';
import { requestNameOf } from './requests.ts';

/** Our codes, as clients of this API know them; others in lower case. */
const codes: Readonly<Record<string, string>> = {
  UNAUTHORIZED: 'invalid_api_key',
  RATE_LIMITED: 'rate_limit_exceeded',
};

const types: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'payment_error',
  403: 'permission_error',
  429: 'rate_limit_error',
};

/** Too little money in a treasury: the code and type that clients of this API know as final. */
const NO_MONEY = { status: 402, code: 'insufficient_quota', type: 'insufficient_quota' };
const moneyCodes: ReadonlySet<string> = new Set(['INSUFFICIENT_FUNDS', 'INSUFFICIENT_BALANCE']);

/** Replacements for statuses that clients would retry: LangChain retries all but 400 to 407 and 409, six times. */
const finalStatuses: Readonly<Record<number, number>> = { 410: 404, 413: 400, 422: 400 };

export interface OpenAiError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: {
    readonly error: Readonly<Record<string, unknown>> & { readonly message: string; readonly code: string };
    readonly [field: string]: unknown;
  };
}

const typeOf = (status: number) => types[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error');
const AGENT_ERROR = 'agent_error';

/** True while the first call under the Idempotency-Key is being started; its repetition has waited for that as long as the first one waits. */
const isStillStarting = ({ status, error }: GatewayError) =>
  status === 409 && (error as { details?: { reason?: unknown } }).details?.reason === 'still_running';

/** Headers by which stock clients decide whether to repeat: only where nothing was done, or the same purchase is found. */
function retryHeaders(failed: GatewayError): Readonly<Record<string, string>> {
  if (isStillStarting(failed)) return { 'retry-after': '2' };
  return failed.status === 429 || failed.status === 503 ? {} : { 'x-should-retry': 'false' };
}

/**
 * An error in the form of this API. Stock clients retry 408, 409, 429 and 5xx automatically, and obey `x-should-retry`; others (LangChain)
 * read only the status. So a retryable status is used only if a retry costs nothing. `isModel`: the missing resource is the agent.
 */
export function openAiError(failed: GatewayError, isModel = false): OpenAiError {
  const { headers, error, termsV1 } = failed;
  const { code: ours, message, ...more } = error;
  const noMoney = moneyCodes.has(ours) ? NO_MONEY : null;
  const status = noMoney?.status ?? finalStatuses[failed.status] ?? failed.status;
  const isNoModel = ours === 'NOT_FOUND' && isModel;
  const code = noMoney?.code ?? (isNoModel ? 'model_not_found' : (codes[ours] ?? ours.toLowerCase()));
  const text = isNoModel ? `${message} The model is the id of an agent, or auto: GET /v1/models lists them.` : message;
  const fields = (more as { details?: { fields?: readonly { path: string }[] } }).details?.fields;
  const param = isNoModel ? 'model' : fields?.[0] ? requestNameOf(fields[0].path) : null;
  return {
    status,
    headers: { ...headers, ...retryHeaders(failed) },
    body: { error: { message: text, type: noMoney?.type ?? typeOf(status), param, code, ...more }, ...termsV1 },
  };
}

/** A request that its agent did not complete. */
export interface Failed {
  readonly requestId: string;
  readonly status: string;
  readonly error?: { readonly code: string; readonly message: string } | null | undefined;
  readonly refund?: string | null | undefined;
}

const messageOf = ({ status, error, refund }: Failed) =>
  `${error?.message ?? `The request was ${status}.`} ${refund ?? '0.00'} USDC was refunded.`;

/**
 * A request that its agent did not complete; the message contains the refund. A retry would be another purchase, so the status is not a
 * 5xx.
 */
export function failedRequest(record: Failed): OpenAiError {
  const { requestId, status, error, refund = null } = record;
  const code = error?.code ?? status;
  return {
    status: 400,
    headers: { 'x-should-retry': 'false' },
    body: {
      error: { message: messageOf(record), type: AGENT_ERROR, param: null, code, requestId },
      agent_network: { request_id: requestId, status, refund },
    },
  };
}

/** The error of a failed response. Clients of responses take this code for final; `reason` is the node's own code. */
export const responseFailure = (record: Failed) => ({
  code: 'invalid_prompt',
  message: messageOf(record),
  type: AGENT_ERROR,
  param: null,
  reason: record.error?.code ?? record.status,
  requestId: record.requestId,
});

/** The end of a stream that its caller may no longer read. Without it, stock clients take the part they got for the whole answer. */
export const cutOff = (requestId: string) => ({
  message: `The stream was cut off: its API key is not valid any more. GET /v1/responses/${requestId} reads the request, which goes on.`,
  type: typeOf(401),
  param: null,
  code: 'invalid_api_key',
  requestId,
});
