import { createBoundedCache } from '../../lib/bounded-cache.ts';

const MAX_TRIES = 5;
const MAX_KEPT = 10_000;

/** Counts wrong signatures per challenge, in this process. */
export interface ChallengeTries {
  /** Takes a try; false when none is left. */
  take(challengeId: string): boolean;
  /** Returns a try whose signature could not be judged. */
  giveBack(challengeId: string): void;
}

export interface HasChallengeTries {
  readonly challengeTries: ChallengeTries;
}

export function createChallengeTries(): ChallengeTries {
  const taken = createBoundedCache<number>(MAX_KEPT);
  const of = (id: string) => taken.get(id) ?? 0;
  return {
    take(id) {
      if (of(id) >= MAX_TRIES) return false;
      taken.set(id, of(id) + 1);
      return true;
    },
    giveBack: (id) => void taken.set(id, Math.max(0, of(id) - 1)),
  };
}
