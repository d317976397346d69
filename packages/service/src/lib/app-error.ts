import type { ErrorCode, ErrorExtra } from '@agent-network/contracts/errors';

type NoExtra = Record<string, never>;

/**
 * A failure to report to the caller, by a code of the catalogue. `message` is public; `cause` goes to the log only. `extra` has the code's
 * further fields.
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

/** Next steps for objects that were not found, by kind. */
const nextSteps: Readonly<Record<string, string>> = {
  agent: ' List agents with GET /agents.',
  'account treasury': ' Create it with POST /payments/treasury.',
};

export const notFound = (what: string) =>
  new AppError('NOT_FOUND', `${what.charAt(0).toUpperCase()}${what.slice(1)} not found.${nextSteps[what] ?? ''}`);

/** An invalid field of a request. */
export interface Problem {
  /** Names from the top of the request, joined by dots. */
  readonly path: string;
  readonly message: string;
}

const MAX_PROBLEMS = 20;
const MAX_PATH = 100;
const MAX_MESSAGE = 500;

export const invalid = (path: string, message: string) => invalidFields([{ path, message }]);

/** The first problems, truncated: an answer repeats a limited part of the request, or 1 MiB of unknown names would return several MiB. */
export const shownProblems = (problems: readonly Problem[]): Problem[] =>
  problems.slice(0, MAX_PROBLEMS).map(({ path, message }) => ({
    path: path.slice(0, MAX_PATH),
    message: message.slice(0, MAX_MESSAGE),
  }));

const MAX_SAID = 3;

/** A refusal that says the first problems in its message; `details` has more of them. */
export function invalidFields(problems: readonly Problem[]): AppError<'VALIDATION_ERROR'> {
  const fields = shownProblems(problems);
  const said = fields.slice(0, MAX_SAID).map(({ path, message }) => `${path} ${message}`);
  const more = problems.length - said.length;
  const text = `Invalid request: ${said.join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
  return new AppError('VALIDATION_ERROR', text.endsWith('?') ? text : `${text}.`, { details: { fields } });
}
