import type { Store } from '../../store/database.ts';
import type { CallServices } from '../call-services.ts';
import { hasEnded, type Invocation, isAtRest } from '../invocation.ts';
import { findStates } from '../record-store.ts';

/** The end of the wait: its time is over, or the caller has gone. */
export interface Wait {
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/**
 * Resolves when a request has ended or waits for an answer, or when the wait is over, or when this process stops. Resolves to the request if it ended in this
 * process; null: read it.
 * `running`: its end in this process, when the caller has it.
 */
export async function awaitEnd(
  ctx: Store & CallServices,
  requestId: string,
  { waitMs, signal }: Wait,
  running: Promise<Invocation> | null = ctx.runner.ending(requestId),
): Promise<Invocation | null> {
  if (signal.aborted) return null;
  let isOver = false;
  const { promise: over, resolve } = Promise.withResolvers<null>();
  const stop = () => {
    isOver = true;
    resolve(null);
  };
  const timer = setTimeout(stop, waitMs);
  signal.addEventListener('abort', stop);
  try {
    const heard = running && (await Promise.race([running.catch(() => null), over]));
    // Work that another process has taken over ends here with the request still open.
    if (heard && hasEnded(heard.status)) return heard;
    if (heard && isAtRest(heard.status)) return null;
    if (!isOver) await awaitChange(ctx, requestId, AbortSignal.any([signalOf(over), ctx.runner.signal]));
    return null;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    stop();
  }
}

function signalOf(over: Promise<null>): AbortSignal {
  const controller = new AbortController();
  void over.then(() => controller.abort());
  return controller.signal;
}

/** Poll interval behind the hub and the stream poller, in case both miss a change. */
const ASK_AGAIN_MS = 5000;

/** For a request that another process runs, and for one that was taken over from this one. */
async function awaitChange(ctx: Store & CallServices, requestId: string, over: AbortSignal): Promise<void> {
  const watch = ctx.changeHub.watch(requestId);
  const following = ctx.streamPoller.follow(requestId);
  try {
    while (!over.aborted) {
      const [state] = await findStates(ctx.db, [requestId]);
      if (!state || isAtRest(state.status)) return;
      // Chunks alone do not end it.
      do watch.takeSaid();
      while ((await watch.next(ASK_AGAIN_MS, over)) && !over.aborted && watch.takeSaid()?.length);
    }
  } finally {
    following.stop();
    watch.close();
  }
}
