import { setTimeout as sleep } from 'node:timers/promises';

export interface UntilOptions {
  readonly timeoutMs: number;
  /** First delay; each further one doubles, up to `mostMs`. */
  readonly firstMs: number;
  readonly mostMs: number;
  readonly signal?: AbortSignal;
}

/** Polls `ask` until it returns a value; null on timeout. Errors of `ask` are passed on. */
export async function until<T>(ask: () => Promise<T | null>, options: UntilOptions): Promise<T | null> {
  const endMs = performance.now() + options.timeoutMs;
  for (let pauseMs = options.firstMs; ; pauseMs = Math.min(pauseMs * 2, options.mostMs)) {
    const answer = await ask();
    if (answer !== null || performance.now() + pauseMs > endMs) return answer;
    await sleep(pauseMs, undefined, options.signal ? { signal: options.signal } : {});
  }
}
