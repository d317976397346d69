import { endsWithin } from './within.ts';

/** A lock per key within this process. Work of one key runs one at a time, in order of arrival. */
export interface Mutex {
  /** Resolves with the function that releases the lock. */
  acquire(key: string): Promise<() => void>;
  /** Like `acquire`; null after the timeout, and at once when too many wait for this key. */
  acquireWithin(key: string, limits: WaitLimits): Promise<(() => void) | null>;
  /** Runs work under the lock. */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
}

export interface WaitLimits {
  readonly timeoutMs: number;
  readonly maxWaiting: number;
}

export function createMutex(): Mutex {
  const last = new Map<string, Promise<void>>();
  const waiting = new Map<string, number>();

  /** Joins the queue of a key: `turn` resolves when all before have released the lock; undefined if it was free. */
  function join(key: string): { readonly turn: Promise<void> | undefined; readonly release: () => void } {
    const turn = last.get(key);
    const { promise: done, resolve: end } = Promise.withResolvers<void>();
    last.set(key, done);
    const release = () => {
      if (last.get(key) === done) last.delete(key);
      end();
    };
    return { turn, release };
  }

  function count(key: string, change: number): void {
    const left = (waiting.get(key) ?? 0) + change;
    if (left > 0) waiting.set(key, left);
    else waiting.delete(key);
  }

  async function acquire(key: string): Promise<() => void> {
    const { turn, release } = join(key);
    await turn;
    return release;
  }

  return {
    acquire,
    async run(key, work) {
      const release = await acquire(key);
      try {
        return await work();
      } finally {
        release();
      }
    },
    async acquireWithin(key, { timeoutMs, maxWaiting }) {
      if ((waiting.get(key) ?? 0) >= maxWaiting) return null;
      const { turn, release } = join(key);
      if (turn === undefined) return release;
      count(key, 1);
      const isAcquired = await endsWithin(turn, timeoutMs);
      count(key, -1);
      if (isAcquired) return release;
      // Later callers queue behind this one, so it releases the lock when its turn comes.
      void turn.then(release);
      return null;
    },
  };
}
