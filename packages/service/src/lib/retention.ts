/** Retention periods of ended things. The ledger is kept for ever. */
export interface Retention {
  readonly resultDays: number;
  readonly chunkDays: number;
  readonly eventDays: number;
}

export interface HasRetention {
  readonly retention: Retention;
}

export const DAY_MS = 86_400_000;

export const daysBefore = (now: Date, days: number): Date => new Date(now.getTime() - days * DAY_MS);

/** Maximum steps of one round; the rest waits for the next round. */
const MAX_STEPS = 20;
const STEP = 1000;

/** Removes rows in small steps, each a short transaction of its own: it blocks no one, and may stop between any two. */
export async function removeInSteps(removeSome: (most: number) => Promise<number>): Promise<void> {
  for (let steps = 0; steps < MAX_STEPS; steps++) if ((await removeSome(STEP)) < STEP) return;
}
