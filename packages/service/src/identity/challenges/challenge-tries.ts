import { LRUCache } from 'lru-cache';

const MAX_TRIES = 5;
const MAX_KEPT = 10_000;

/** Counts signatures that were wrong, in this process, for challenges that this node gave. */
export interface ChallengeTries {
  /** Whether there is a try left, and takes it. */
  take(challengeId: string): boolean;
  /** Gives one back that could not be judged. */
  giveBack(challengeId: string): void;
}

export interface HasChallengeTries {
  readonly challengeTries: ChallengeTries;
}

export function createChallengeTries(): ChallengeTries {
  const taken = new LRUCache<string, number>({ max: MAX_KEPT });
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
