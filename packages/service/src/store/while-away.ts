import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseAwayError } from './database-away.ts';

const PAUSE_MS = 500;

/**
 * Repeats work until the database answers, or the signal aborts: for what this process alone knows and cannot find again. The work may have
 * been done when it is repeated, so it must be one that can be done twice.
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
