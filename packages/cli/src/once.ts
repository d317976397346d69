import { randomUUID } from 'node:crypto';
import { mayHaveHappened } from '@agent-network/sdk';

/** The outcome of a call that moves money is not known; `key` makes its repetition the same call. */
export class UnknownOutcomeError extends Error {
  override readonly name = 'UnknownOutcomeError';
  readonly key: string;

  constructor(cause: unknown, key: string) {
    super('it is not known whether the call was made', { cause });
    this.key = key;
  }
}

/**
 * Does work that moves money under an Idempotency-Key: the given one, else a new one. Throws `UnknownOutcomeError` with the key when the
 * work may have been done although it failed; rethrows other errors.
 */
export async function once<T>(given: string | undefined, work: (key: string) => Promise<T>): Promise<T> {
  const key = given ?? randomUUID();
  try {
    return await work(key);
  } catch (error) {
    throw mayHaveHappened(error) ? new UnknownOutcomeError(error, key) : error;
  }
}
