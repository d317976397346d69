/** Tells, within this process, that something about a request changed. Only ever a hint: who waits also asks the database. */
export interface ChangeHub {
  changed(requestId: string): void;
  /** Resolves at the next change of the request, after `atMostMs`, or when the signal aborts. */
  next(requestId: string, atMostMs: number, signal?: AbortSignal): Promise<void>;
}

export interface HasChangeHub {
  readonly changeHub: ChangeHub;
}

export function createChangeHub(): ChangeHub {
  const waiting = new Map<string, Set<() => void>>();
  return {
    changed(requestId) {
      const waiters = waiting.get(requestId);
      waiting.delete(requestId);
      for (const wake of waiters ?? []) wake();
    },
    next(requestId, atMostMs, signal) {
      return new Promise((resolve) => {
        const wake = () => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', wake);
          const waiters = waiting.get(requestId);
          waiters?.delete(wake);
          if (waiters?.size === 0) waiting.delete(requestId);
          resolve();
        };
        const timer = setTimeout(wake, atMostMs);
        signal?.addEventListener('abort', wake, { once: true });
        const waiters = waiting.get(requestId) ?? new Set();
        waiting.set(requestId, waiters.add(wake));
        if (signal?.aborted) wake();
      });
    },
  };
}
