import type { ErrorCode, ErrorExtra } from '@agent-network/contracts/errors';

/** A payment that was signed for a call. Presenting the same bytes again never pays twice; signing a new payment would. */
export interface PaymentHeaders {
  readonly 'payment-signature': string;
}

interface ApiErrorFields<C extends ErrorCode> {
  readonly code: C;
  readonly message: string;
  readonly status: number;
  readonly extra: ErrorExtra<C>;
  readonly requestId: string | undefined;
  readonly retryAfterS: number | undefined;
}

/** The node returned an error. `code` identifies it, `extra` has the fields of that code. */
export class ApiError<C extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'ApiError';
  readonly code: C;
  readonly status: number;
  readonly extra: ErrorExtra<C>;
  readonly requestId: string | undefined;
  readonly retryAfterS: number | undefined;
  /** Set when a payment was shown: repeat the call with these headers, and it is not paid again. */
  paymentHeaders: PaymentHeaders | undefined;
  /** The key that the call was made under: repeated with it as the option `idempotencyKey`, it is the same call. */
  idempotencyKey: string | undefined;

  constructor(fields: ApiErrorFields<C>) {
    super(fields.message);
    this.code = fields.code;
    this.status = fields.status;
    this.extra = fields.extra;
    this.requestId = fields.requestId;
    this.retryAfterS = fields.retryAfterS;
  }
}

/** True if the node cannot settle anything for longer than repeats last: the call changed nothing, and no payment was taken. */
export const isUnableToSettle = (error: ApiError): boolean =>
  error.code === 'UNAVAILABLE' && (error as ApiError<'UNAVAILABLE'>).extra.details?.state === 'cannot_settle';

/** No usable answer came: the connection failed, the time ran out, the caller gave up, or something other than the node answered. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
  readonly status: number | undefined;
  paymentHeaders: PaymentHeaders | undefined;
  idempotencyKey: string | undefined;

  constructor(message: string, options: { status?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.status = options.status;
  }
}

/** The call is done, but its secret was shown once, with an answer that was lost: `message` says how to get another. */
export class SecretShownError extends Error {
  override readonly name = 'SecretShownError';
  /** The answer without the secret. */
  readonly data: object;

  constructor(message: string, data: object) {
    super(message);
    this.data = data;
  }
}

/** Narrows to an error of the node, or, with a code, to that error and its fields. */
export function isApiError<C extends ErrorCode = ErrorCode>(error: unknown, code?: C): error is ApiError<C> {
  return error instanceof ApiError && (code === undefined || error.code === code);
}
