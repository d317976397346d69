import type { FaceError } from '../common/face-error.ts';
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
  424: 'agent_error',
  429: 'rate_limit_error',
};

export interface OpenAiError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: {
    readonly error: Readonly<Record<string, unknown>> & { readonly message: string; readonly code: string };
    readonly [field: string]: unknown;
  };
}

const typeOf = (status: number) => types[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error');

/** True while the first call under the Idempotency-Key is being started; its repetition has waited for that as long as the first one waits. */
const isStillStarting = ({ status, error }: FaceError) =>
  status === 409 && (error as { details?: { reason?: unknown } }).details?.reason === 'still_running';

/** Headers by which stock clients decide whether to repeat: only where nothing was done, or the same purchase is found. */
function retryHeaders(failed: FaceError): Readonly<Record<string, string>> {
  if (isStillStarting(failed)) return { 'retry-after': '2' };
  return failed.status === 429 || failed.status === 503 ? {} : { 'x-should-retry': 'false' };
}

/**
 * An error in the form of this API. Stock clients repeat 408, 409, 429 and 5xx by themselves, and obey `x-should-retry`: only what is free to
 * repeat leaves it to them. `isModel`: what was not found is the agent.
 */
export function openAiError(failed: FaceError, isModel = false): OpenAiError {
  const { status, headers, error, termsV1 } = failed;
  const { code: ours, message, ...more } = error;
  const isNoModel = ours === 'NOT_FOUND' && isModel;
  const code = isNoModel ? 'model_not_found' : (codes[ours] ?? ours.toLowerCase());
  const text = isNoModel ? `${message} The model is the id of an agent: GET /v1/models lists them.` : message;
  const fields = (more as { details?: { fields?: readonly { path: string }[] } }).details?.fields;
  const param = isNoModel ? 'model' : fields?.[0] ? requestNameOf(fields[0].path) : null;
  return {
    status,
    headers: { ...headers, ...retryHeaders(failed) },
    body: { error: { message: text, type: typeOf(status), param, code, ...more }, ...termsV1 },
  };
}

/** A request that its agent did not complete: the message says what came back. */
export function failedRequest(record: {
  readonly requestId: string;
  readonly status: string;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly refund: string | null;
}): OpenAiError {
  const { requestId, status, error, refund } = record;
  const code = error?.code ?? status;
  const message = `${error?.message ?? `The request was ${status}.`} ${refund ?? '0.00'} USDC came back.`;
  return {
    status: 424,
    headers: { 'x-should-retry': 'false' },
    body: {
      error: { message, type: typeOf(424), param: null, code, requestId },
      agent_network: { request_id: requestId, status, refund },
    },
  };
}

/** The end of a stream that its caller may not read on: without it, stock clients take what came for the whole answer. */
export const cutOff = (requestId: string) => ({
  message: `The stream was cut off: its API key is not valid any more. GET /v1/responses/${requestId} reads the request, which goes on.`,
  type: typeOf(401),
  param: null,
  code: 'invalid_api_key',
  requestId,
});
