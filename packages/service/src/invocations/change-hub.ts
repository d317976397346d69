/** Tells, within this process, that something about a request changed. Only ever a hint: who waits also asks the database. */
export interface ChangeHub {
  changed(requestId: string): void;
  /** Begins to remember changes of a request. Close it when done. */
  watch(requestId: string): ChangeWatch;
}

export interface ChangeWatch {
  /**
   * Resolves at a change that came since the last call resolved, so that none is missed while its reader looks at the database;
   * else after `atMostMs`, or when the signal aborts.
   */
  next(atMostMs: number, signal?: AbortSignal): Promise<void>;
  close(): void;
}

export interface HasChangeHub {
  readonly changeHub: ChangeHub;
}

export function createChangeHub(): ChangeHub {
  const watched = new Map<string, Set<() => void>>();
  return {
    changed(requestId) {
      for (const note of watched.get(requestId) ?? []) note();
    },
    watch(requestId) {
      let hasChanged = false;
      let wake = () => {};
      const note = () => {
        hasChanged = true;
        wake();
      };
      const notes = watched.get(requestId) ?? new Set();
      watched.set(requestId, notes.add(note));
      return {
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
          hasChanged = false;
        },
        close() {
          notes.delete(note);
          if (notes.size === 0 && watched.get(requestId) === notes) watched.delete(requestId);
        },
      };
    },
  };
}
