import { endsWithin } from './within.ts';

/** Work on one key at a time in this process, in the order of arrival. */
export interface OneByOne {
  /** Resolves when the work before it on this key is done, with what ends this work. */
  enter(key: string): Promise<() => void>;
  /** The same within a time; null when that has passed, or at once when as many wait on this key. */
  enterWithin(key: string, limits: LineLimits): Promise<(() => void) | null>;
  /** Does the work in its turn on this key. */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
}

export interface LineLimits {
  readonly timeoutMs: number;
  readonly mostWaiting: number;
}

export function createOneByOne(): OneByOne {
  const last = new Map<string, Promise<void>>();
  const waiting = new Map<string, number>();

  /** A place in the line: `turn` comes when all before it have left. */
  function join(key: string): { readonly turn: Promise<void> | undefined; readonly leave: () => void } {
    const turn = last.get(key);
    const { promise: done, resolve: end } = Promise.withResolvers<void>();
    last.set(key, done);
    const leave = () => {
      if (last.get(key) === done) last.delete(key);
      end();
    };
    return { turn, leave };
  }

  function count(key: string, change: number): void {
    const left = (waiting.get(key) ?? 0) + change;
    if (left > 0) waiting.set(key, left);
    else waiting.delete(key);
  }

  async function enter(key: string): Promise<() => void> {
    const { turn, leave } = join(key);
    await turn;
    return leave;
  }

  return {
    enter,
    async run(key, work) {
      const leave = await enter(key);
      try {
        return await work();
      } finally {
        leave();
      }
    },
    async enterWithin(key, { timeoutMs, mostWaiting }) {
      if ((waiting.get(key) ?? 0) >= mostWaiting) return null;
      const { turn, leave } = join(key);
      if (turn === undefined) return leave;
      count(key, 1);
      const hasCome = await endsWithin(turn, timeoutMs);
      count(key, -1);
      if (hasCome) return leave;
      // Those behind wait for those before: the place is given up when its turn comes.
      void turn.then(leave);
      return null;
    },
  };
}
