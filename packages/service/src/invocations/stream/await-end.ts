import type { HasDb } from '../../db/database.ts';
import { hasEnded, type Invocation } from '../invocation.ts';
import type { HasRunner } from '../places/runner.ts';
import { findStates } from '../record-store.ts';
import type { HasChangeHub } from './change-hub.ts';
import type { HasStreamPoller } from './stream-poller.ts';

/**
 * Resolves when a request has ended, after `waitMs`, or when the signal aborts. Resolves to the request if it ended in this process; null:
 * read it.
 */
export async function awaitEnd(
  ctx: HasDb & HasRunner & HasChangeHub & HasStreamPoller,
  requestId: string,
  waitMs: number,
  signal: AbortSignal,
): Promise<Invocation | null> {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), waitMs);
  const over = AbortSignal.any([stop.signal, signal]);
  try {
    const ending = ctx.runner.ending(requestId);
    const ended = ending && (await Promise.race([ending.catch(() => null), aborted(over)]));
    if (!ended) await awaitChange(ctx, requestId, over);
    return ended;
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
}

const aborted = (signal: AbortSignal): Promise<null> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    else signal.addEventListener('abort', () => resolve(null), { once: true });
  });

/** Poll interval behind the hub and the stream poller, in case both miss a change. */
const ASK_AGAIN_MS = 5000;

/** For a request that another process runs, and for one that was taken over from this one. */
async function awaitChange(
  ctx: HasDb & HasChangeHub & HasStreamPoller,
  requestId: string,
  over: AbortSignal,
): Promise<void> {
  if (over.aborted) return;
  const watch = ctx.changeHub.watch(requestId);
  const following = ctx.streamPoller.follow(requestId);
  try {
    while (!over.aborted) {
      const [state] = await findStates(ctx.db, [requestId]);
      if (!state || hasEnded(state.status)) return;
      // Chunks alone do not end it.
      do watch.takeSaid();
      while ((await watch.next(ASK_AGAIN_MS, over)) && !over.aborted && watch.takeSaid()?.length);
    }
  } finally {
    following.stop();
    watch.close();
  }
}
