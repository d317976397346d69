import { randomInt } from 'node:crypto';
import { errorHelp } from '@agent-network/contracts/error-remedies';
import { errorCatalogue } from '@agent-network/contracts/errors';
import { AppError } from '../../lib/app-error.ts';
import { isChannelRefusal } from '../../payments/schemes/batch-settlement/channel-refusal.ts';
import { PaymentRequiredError } from '../../payments/x402/payment-required.ts';
import { DatabaseAwayError } from '../../store/database-away.ts';

export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Record<string, unknown>;
}

/** Default `Retry-After` by error code: seconds from one number to another. Callers that were refused together must not return together. */
const retryAfterS: Partial<Record<string, readonly [least: number, most: number]>> = {
  PAYMENT_PENDING: [2, 2],
  UNAVAILABLE: [5, 10],
  AGENT_UNAVAILABLE: [30, 45],
};

export function retryAfterOf(code: string): string | undefined {
  const [least, most] = retryAfterS[code] ?? [];
  return least === undefined || most === undefined ? undefined : String(randomInt(least, most + 1));
}

/** Maps an error to an answer. An error outside of the catalogue is a 500 without details; its cause is for the log. */
export function toErrorAnswer(error: unknown, requestId: string): ErrorAnswer {
  const known = toAppError(error);
  const { code, message } = known;
  const headers: Record<string, string> = {};
  const wait =
    known.code === 'RATE_LIMITED'
      ? String((known as AppError<'RATE_LIMITED'>).extra.details.retryAfterS)
      : retryAfterOf(code);
  if (wait !== undefined) headers['retry-after'] = wait;
  const help = errorHelp[code] ? { help: errorHelp[code] } : {};
  const body = { status: 'error', error: { code, message, requestId, ...help, ...known.extra } };
  if (!(known instanceof PaymentRequiredError)) return { status: errorCatalogue[code].status, headers, body };
  headers['payment-required'] = encode(known.offer.v2);
  // Stock clients of channels go by the error of PAYMENT-REQUIRED, and take a settlement header for a final answer.
  if (known.reason !== null && !isChannelRefusal(known.reason)) {
    const answer = {
      success: false,
      errorReason: known.reason,
      transaction: '',
      network: known.offer.v2.accepts[0]?.network ?? '',
    };
    headers['payment-response'] = encode(answer);
  }
  return { status: 402, headers, body: { ...body, ...(known.offer.v1 ?? {}), error: body.error } };
}

const FAULT =
  'Something went wrong on our side, and the call may have been done. Repeat it once under the same Idempotency-Key; without one, first read what it ' +
  'made. If it fails again, tell the operator of the node this requestId.';

function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof DatabaseAwayError)
    return new AppError('UNAVAILABLE', 'The database is temporarily unreachable.', {}, { cause: error });
  return new AppError('INTERNAL_ERROR', FAULT);
}

/** Encodes as base64 JSON, the form of x402 headers. */
export const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');

interface AwayDuring {
  readonly method: string;
  /** True once the request's own work began; before that, it has changed nothing. */
  readonly hasBegun: boolean;
  readonly hasKey: boolean;
  readonly hasPayment: boolean;
}

/** Maps a database failure to an answer with the outcome of the request and the way to repeat it. Returns other errors unchanged. */
export function describeOutage(error: unknown, { method, hasBegun, hasKey, hasPayment }: AwayDuring): unknown {
  if (!(error instanceof DatabaseAwayError)) return error;
  const why = error.isBusy ? 'The database is overloaded.' : 'The database is temporarily unreachable.';
  const tell = (outcome: 'nothing' | 'unknown', text: string) =>
    new AppError('UNAVAILABLE', `${why} ${text}`, { details: { outcome } }, { cause: error });
  if (method === 'GET' || !hasBegun) return tell('nothing', 'Nothing was done; repeat the request.');
  const repeat = hasKey
    ? 'Repeat the identical request with the same Idempotency-Key to get its answer: it is never executed twice.'
    : hasPayment
      ? 'Repeat the identical request with the same payment: it is charged once.'
      : 'Check its outcome before you repeat it, and send an Idempotency-Key: with one, nothing is executed twice.';
  return tell('unknown', `The request may have been executed. ${repeat}`);
}
