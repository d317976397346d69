import { DeadlinePassedError } from '../deadline.ts';

/**
 * Decides a paid call once more when its deadline has passed: a repetition of it that was accepted just before is found then, and its
 * result is the answer. Nobody is told that a call was refused which he has paid for.
 */
export async function orRepetition<T>(isPaid: boolean, decide: () => Promise<T>): Promise<T> {
  try {
    return await decide();
  } catch (error) {
    if (!isPaid || !(error instanceof DeadlinePassedError)) throw error;
    return decide();
  }
}
