import { DatabaseAwayError } from '../../db/database-away.ts';
import { AppError } from '../../lib/app-error.ts';

export interface AwayDuring {
  readonly method: string;
  /** True once the request's own work began; before that, it has changed nothing. */
  readonly hasBegun: boolean;
  readonly hasKey: boolean;
  readonly hasPayment: boolean;
}

/** Maps a database failure to an answer that tells the outcome of the request and the way to repeat it. Other errors stay as they are. */
export function tellAway(error: unknown, { method, hasBegun, hasKey, hasPayment }: AwayDuring): unknown {
  if (!(error instanceof DatabaseAwayError)) return error;
  const why = error.isBusy ? 'The database is overloaded.' : 'The database cannot be reached at the moment.';
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
