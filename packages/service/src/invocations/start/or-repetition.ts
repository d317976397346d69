import type { Once } from '../../access/idempotency/once.ts';
import { isDuplicate } from '../../db/database-away.ts';
import { DeadlinePassedError } from '../deadline.ts';

/** The parts of a call by which a repetition is recognised. */
interface Repeatable {
  /** The payment that is shown; null: none. */
  readonly shown: object | null;
  readonly once: Once;
}

/**
 * Decides a call once more when a repetition of it may have been accepted just before, which is found then, and whose result is the answer:
 * its deadline has passed and it is paid, as nobody is told that a call was refused which he has paid for; or its id is taken, that of an
 * Idempotency-Key by another process that thought this one dead, or that of its offer by what paid for it otherwise at another process.
 */
export async function orRepetition<T>({ shown, once }: Repeatable, decide: () => Promise<T>): Promise<T> {
  try {
    return await decide();
  } catch (error) {
    const hasName = shown !== null || once.idFor('req', 1) !== null;
    const mayBeMade = error instanceof DeadlinePassedError ? shown !== null : isDuplicate(error) && hasName;
    if (!mayBeMade) throw error;
    return decide();
  }
}
