import type { Chunk } from './stream-store.ts';

/** Tells, within this process, that something about a request changed. Only ever a hint: who waits also asks the database. */
export interface ChangeHub {
  /** `said`: all that changed is that these chunks were stored, in order. Together they must be small: readers are kept several. */
  changed(requestId: string, said?: readonly Chunk[]): void;
  /** Begins to remember changes of a request. Close it when done. */
  watch(requestId: string): ChangeWatch;
}

export interface ChangeWatch {
  /**
   * Resolves at a change that came since the last call resolved, so that none is missed while its reader looks at the database;
   * else after `atMostMs`, or when the signal aborts. Whether there was a change.
   */
  next(atMostMs: number, signal?: AbortSignal): Promise<boolean>;
  /** The chunks stored since the last call, when nothing else changed and not too much was said; null: the database must tell. */
  takeSaid(): readonly Chunk[] | null;
  close(): void;
}

export interface HasChangeHub {
  readonly changeHub: ChangeHub;
}

/** So much is kept for a reader that does not come for it; then the database tells it, at its own pace. */
const MAX_KEPT = 8;

interface Watcher extends Omit<ChangeWatch, 'close'> {
  note(said: readonly Chunk[] | undefined): void;
}

export function createChangeHub(): ChangeHub {
  const watched = new Map<string, Set<Watcher>>();
  return {
    changed(requestId, said) {
      for (const watcher of watched.get(requestId) ?? []) watcher.note(said);
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
    note(said) {
      hasChanged = true;
      if (!said || (kept?.length ?? 0) === MAX_KEPT) kept = null;
      else kept?.push(said);
      wake();
    },
    takeSaid() {
      const said = kept?.flat() ?? null;
      kept = [];
      return said;
    },
    async next(atMostMs, signal) {
      if (!hasChanged && !signal?.aborted)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, atMostMs);
          const stop = () => {
            clearTimeout(timer);
            signal?.removeEventListener('abort', stop);
            resolve();
          };
          wake = stop;
          signal?.addEventListener('abort', stop, { once: true });
        });
      const wasTold = hasChanged;
      hasChanged = false;
      return wasTold;
    },
  };
}
