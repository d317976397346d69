import { DAY_MS } from './duration.ts';

/** Retention periods of ended things. The ledger is kept for ever. */
export interface Retention {
  readonly resultDays: number;
  readonly chunkDays: number;
  readonly eventDays: number;
}

export const daysBefore = (now: Date, days: number): Date => new Date(now.getTime() - days * DAY_MS);

const STEP = 1000;
/** The rest waits for the next round: other recurring work of the process is waiting too. */
const ROUND_MS = 20_000;

/**
 * Removes rows in small steps, each a short transaction of its own: it blocks no one, and may stop between any two. `removeSome` returns how
 * many it removed, or looked at; 0: nothing is left. Returns whether nothing is left; false: the round was over before.
 */
export async function removeForARound(
  removeSome: (most: number) => Promise<number>,
  { roundMs = ROUND_MS } = {},
): Promise<boolean> {
  const startMs = performance.now();
  while ((await removeSome(STEP)) > 0) if (performance.now() - startMs >= roundMs) return false;
  return true;
}

/** Removes rows in small steps, for recurring work: the next round removes the rest. */
export async function removeInSteps(removeSome: (most: number) => Promise<number>): Promise<void> {
  await removeForARound(removeSome);
}
