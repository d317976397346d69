import type { Chunk } from './stream-store.ts';

/** Notifies readers in this process of changes to a request. A hint only: readers also poll the database. */
export interface ChangeHub {
  /** `said`: the only change is that these chunks were stored, in order. Together they must be small, because readers keep several. */
  changed(requestId: string, said?: readonly Chunk[]): void;
  /** Starts to record changes of a request. Close it when done. */
  watch(requestId: string): ChangeWatch;
  /** Announces that this process is about to end, and wakes all who wait: they get the current state. */
  leave(): void;
  hasLeft(): boolean;
}

export interface ChangeWatch {
  /**
   * Resolves at a change since the last resolved call, so that none is missed while the reader queries the database; else after `atMostMs`,
   * or when the signal aborts or this process is about to end. Resolves true for a change.
   */
  next(atMostMs: number, signal?: AbortSignal): Promise<boolean>;
  /** The chunks stored since the last call, if they are the only change and few enough; null: read the database. */
  takeSaid(): readonly Chunk[] | null;
  close(): void;
}

/** Maximum recorded changes for a slow reader; beyond it, the reader falls back to the database. */
const MAX_KEPT = 8;

interface Watcher extends Omit<ChangeWatch, 'close'> {
  record(said: readonly Chunk[] | undefined): void;
  /** Ends the present wait, without a change. */
  wake(): void;
}

export function createChangeHub(): ChangeHub {
  const watched = new Map<string, Set<Watcher>>();
  let isLeft = false;
  return {
    leave() {
      isLeft = true;
      for (const watcher of [...watched.values()].flatMap((each) => [...each])) watcher.wake();
    },
    hasLeft: () => isLeft,
    changed(requestId, said) {
      for (const watcher of watched.get(requestId) ?? []) watcher.record(said);
    },
    watch(requestId) {
      const watcher = createWatcher();
      const watchers = watched.get(requestId) ?? new Set();
      watched.set(requestId, watchers.add(watcher));
      return {
        next: watcher.next,
        takeSaid: watcher.takeSaid,
        close() {
          watchers.delete(watcher);
          if (watchers.size === 0 && watched.get(requestId) === watchers) watched.delete(requestId);
        },
      };
    },
  };
}

function createWatcher(): Watcher {
  let hasChanged = false;
  let kept: (readonly Chunk[])[] | null = [];
  let wake = () => {};
  return {
    record(said) {
      hasChanged = true;
      if (!said || (kept?.length ?? 0) === MAX_KEPT) kept = null;
      else kept?.push(said);
      wake();
    },
    wake: () => wake(),
    takeSaid() {
      const said = kept?.flat() ?? null;
      kept = [];
      return said;
    },
    async next(atMostMs, signal) {
      if (!hasChanged && !signal?.aborted)
        await new Promise<void>((resolve) => {
          const stop = () => {
            clearTimeout(timer);
            signal?.removeEventListener('abort', stop);
            resolve();
          };
          const timer = setTimeout(stop, atMostMs);
          wake = stop;
          signal?.addEventListener('abort', stop, { once: true });
        });
      const wasTold = hasChanged;
      hasChanged = false;
      return wasTold;
    },
  };
}
