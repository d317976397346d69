/** A semaphore in the order of arrival. */
export interface Turns {
  /** Returns true if the caller may run now; otherwise calls `again` when it may. */
  take(again: () => void): boolean;
  /** Ends a turn. */
  pass(): void;
}

/** `most`: how many may run at the same time. */
export function createTurns(most = 1): Turns {
  let taken = 0;
  const waiting = new Set<() => void>();
  return {
    take(again) {
      if (taken >= most) {
        waiting.add(again);
        return false;
      }
      taken += 1;
      return true;
    },
    pass() {
      taken -= 1;
      for (const again of waiting) {
        if (taken >= most) return;
        waiting.delete(again);
        again();
      }
    },
  };
}

/** Runs work in a turn of its own. */
export async function inTurn<T>(turns: Turns, work: () => Promise<T>): Promise<T> {
  await new Promise<void>((resolve) => {
    const enter = () => {
      if (turns.take(enter)) resolve();
    };
    enter();
  });
  try {
    return await work();
  } finally {
    turns.pass();
  }
}
