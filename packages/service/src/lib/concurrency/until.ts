import { setTimeout as sleep } from 'node:timers/promises';

export interface UntilOptions {
  readonly timeoutMs: number;
  /** First delay; each further one doubles, up to `maxMs`. */
  readonly firstMs: number;
  readonly maxMs: number;
  readonly signal?: AbortSignal;
}

/**
 * Polls `ask` until it returns a value; null on timeout. Errors of `ask` are passed on. It is called a last time after the timeout, so that
 * a change during the last pause counts, however long that pause took. A call that is still running at the timeout is the last one.
 */
export async function until<T>(ask: () => Promise<T | null>, options: UntilOptions): Promise<T | null> {
  const endMs = performance.now() + options.timeoutMs;
  for (let pauseMs = options.firstMs; ; pauseMs = Math.min(pauseMs * 2, options.maxMs)) {
    const answer = await ask();
    const leftMs = endMs - performance.now();
    if (answer !== null || leftMs <= 0) return answer;
    await sleep(Math.min(pauseMs, leftMs), undefined, options.signal ? { signal: options.signal } : {});
  }
}
