import { ApiError, isApiError, NoAnswerError, PaymentRefusedError } from '@agent-network/sdk';
import { UnknownOutcomeError } from './once.ts';

/** Exit codes of every command. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  declined: 3,
  unauthorized: 4,
  payment: 5,
  interrupted: 130,
} as const;

/** Meaning of each exit code, for the help and the manual. */
export const exitMeanings: Readonly<Record<keyof typeof EXIT, string>> = {
  done: 'done',
  failed: 'failed, also a failed request',
  usage: 'wrong usage; nothing was done',
  declined: 'declined by the person who was asked',
  unauthorized: 'the key is missing or refused',
  payment: 'payment is needed, short, or over the limit',
  interrupted: 'interrupted',
};

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** An error that the command line itself reports; `code` as in the API where there is one. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly code: string;
  readonly exitCode: ExitCode;

  constructor(message: string, options: { code?: string; exitCode?: ExitCode } = {}) {
    super(message);
    this.code = options.code ?? 'USAGE';
    this.exitCode = options.exitCode ?? EXIT.usage;
  }
}

export const declined = (): CommandError =>
  new CommandError('Nothing was done.', { code: 'DECLINED', exitCode: EXIT.declined });

const PAYMENT_CODES = new Set([
  'PAYMENT_REQUIRED',
  'INSUFFICIENT_FUNDS',
  'INSUFFICIENT_BALANCE',
  'SPENDING_LIMIT_EXCEEDED',
  'NO_AGENT_FITS',
]);

export interface Failure {
  readonly exitCode: ExitCode;
  readonly code: string;
  readonly message: string;
  readonly requestId: string | null;
}

/** Exit code and message of a command that threw. */
export function failureOf(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof CommandError) return { exitCode: error.exitCode, code: error.code, message, requestId: null };
  if (error instanceof UnknownOutcomeError) {
    const failure = failureOf(error.cause);
    return { ...failure, message: `${sentence(failure.message)} ${howToRepeat(error.key)}` };
  }
  if (error instanceof PaymentRefusedError)
    return { exitCode: EXIT.payment, code: 'PAYMENT_REFUSED', message, requestId: null };
  if (error instanceof NoAnswerError) return { exitCode: EXIT.failed, code: 'NO_ANSWER', message, requestId: null };
  if (!(error instanceof ApiError)) return { exitCode: EXIT.failed, code: 'ERROR', message, requestId: null };
  const requestId = error.requestId ?? null;
  if (isApiError(error, 'UNAUTHORIZED'))
    return { exitCode: EXIT.unauthorized, code: error.code, message: `${message} ${HOW_TO_SIGN_IN}`, requestId };
  if (isApiError(error, 'FORBIDDEN')) {
    const command = error.extra.help?.command;
    const step = command === undefined ? '' : ` Next: ${command}`;
    return { exitCode: EXIT.unauthorized, code: error.code, message: `${message}${step}`, requestId };
  }
  const exitCode = PAYMENT_CODES.has(error.code) ? EXIT.payment : EXIT.failed;
  return { exitCode, code: error.code, message: withHint(error, withFields(error, message)), requestId };
}

/** Ends a message with one full stop. */
export const sentence = (text: string): string => (/[.!?)]$/.test(text) ? text : `${text}.`);

const howToRepeat = (key: string): string =>
  `Try again with "--idempotency-key ${key}" within 24 hours; retrying with this key is safe: nothing is done or paid twice.`;

const hints: Partial<Record<string, string>> = {
  PAYMENT_REQUIRED: 'Add funds with "agentnet deposit <amount>", or pay from a wallet with "--pay x402".',
  INSUFFICIENT_FUNDS: 'See "agentnet balance", and add funds with "agentnet deposit <amount>".',
  INSUFFICIENT_BALANCE: 'See "agentnet balance": the agent\'s balance is too low.',
  SPENDING_LIMIT_EXCEEDED: 'See "agentnet keys list".',
};

/** Adds the next step with this program to an error's message. */
function withHint(error: ApiError, message: string): string {
  const isAgent = isApiError(error, 'NOT_FOUND') && /\bagent\b/i.test(message);
  const hint = isAgent ? 'Find the id of an agent with "agentnet search".' : hints[error.code];
  return hint === undefined ? message : `${message} ${hint}`;
}

export const HOW_TO_SIGN_IN = 'Sign in with "agentnet login", or set AGENTNET_API_KEY.';

function withFields(error: ApiError, message: string): string {
  if (!isApiError(error, 'VALIDATION_ERROR')) return message;
  const unsaid = error.extra.details.fields.filter((field) => !message.includes(`${field.path} ${field.message}`));
  return `${message}${unsaid.map((field) => `\n  ${field.path}: ${field.message}`).join('')}`;
}
