import { createMutex } from '../../lib/concurrency/mutex.ts';
import { createSemaphore } from '../../lib/concurrency/semaphore.ts';
import { endsWithin } from '../../lib/concurrency/within.ts';

/** Answers above 1 MiB that this process reads at a time. They are in memory. */
const PLACES = 4;
const MAX_WAITING = 100;

/** Places for agents' answers with media. An account has one of them at a time. */
export interface AnswerRoom {
  /** Resolves with the function that gives the place back; null: none was free in time. */
  enter(accountId: string, timeoutMs: number): Promise<(() => void) | null>;
}

export function createAnswerRoom(): AnswerRoom {
  const accounts = createMutex();
  const places = createSemaphore(PLACES);

  function takePlace(timeoutMs: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<void>();
    let [isTaken, isLate] = [false, false];
    const enter = () => {
      if (!places.tryAcquire(enter)) return;
      isTaken = true;
      if (isLate) places.release();
      else resolve();
    };
    enter();
    return endsWithin(promise, timeoutMs).then((isIn) => {
      isLate = !isIn;
      if (isLate && isTaken) places.release();
      return isIn;
    });
  }

  return {
    async enter(accountId, timeoutMs) {
      const leave = await accounts.acquireWithin(accountId, { timeoutMs, maxWaiting: MAX_WAITING });
      if (!leave) return null;
      if (await takePlace(timeoutMs))
        return () => {
          places.release();
          leave();
        };
      leave();
      return null;
    },
  };
}
