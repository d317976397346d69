import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseAwayError } from './database-away.ts';

const PAUSE_MS = 500;

/**
 * Repeats work until the database answers, or the signal aborts, for facts that only this process knows. The work may run twice, so it must
 * be idempotent.
 */
export async function whileAway<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof DatabaseAwayError) || signal.aborted) throw error;
      await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}
