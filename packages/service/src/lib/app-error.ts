import type { ErrorCode, ErrorExtra } from '@agent-network/contracts/errors';

type NoExtra = Record<string, never>;

/**
 * A failure to report to the caller, by a code of the catalogue. `message` is public; `cause` goes to the log only. `extra` holds the
 * fields beside code and message for this code.
 */
export class AppError<C extends ErrorCode = ErrorCode> extends Error {
  override name = 'AppError';
  readonly code: C;
  readonly extra: ErrorExtra<C>;

  constructor(
    code: C,
    message: string,
    ...rest: NoExtra extends ErrorExtra<C>
      ? [extra?: ErrorExtra<C>, options?: ErrorOptions]
      : [ErrorExtra<C>, ErrorOptions?]
  ) {
    // The stack of an expected refusal is useless, and costs more than the refusal.
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    super(message, rest[1]);
    Error.stackTraceLimit = limit;
    this.code = code;
    this.extra = (rest[0] ?? {}) as ErrorExtra<C>;
  }
}

export const notFound = (what: string) => new AppError('NOT_FOUND', `There is no such ${what}.`);

export const invalid = (path: string, message: string) =>
  new AppError('VALIDATION_ERROR', `Invalid request: ${path} ${message}.`, {
    details: { fields: [{ path, message }] },
  });
