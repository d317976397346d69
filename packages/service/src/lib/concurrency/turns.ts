/** Mutual exclusion in the order of arrival. */
export interface Turns {
  /** Returns true if the caller may run now; otherwise calls `again` when it may. */
  take(again: () => void): boolean;
  /** Ends a turn. */
  pass(): void;
}

export function createTurns(): Turns {
  let isTaken = false;
  const waiting = new Set<() => void>();
  return {
    take(again) {
      if (isTaken) {
        waiting.add(again);
        return false;
      }
      isTaken = true;
      return true;
    },
    pass() {
      isTaken = false;
      for (const again of waiting) {
        if (isTaken) return;
        waiting.delete(again);
        again();
      }
    },
  };
}
