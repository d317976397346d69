import { ApiError } from '@agent-network/sdk';
import { liveClient } from '../client.ts';

/** State changes of the account's event stream. */
export type LiveNews =
  | { readonly kind: 'event'; readonly id: number; readonly type: string }
  /** The stream is open. `isBehind`: data read before may be stale, as the stream was interrupted or began after the page. */
  | { readonly kind: 'open'; readonly isBehind: boolean }
  /** The node gives no stream. Connecting continues. */
  | { readonly kind: 'lost' }
  /** The session has ended. */
  | { readonly kind: 'over' };

const MAX_DELAY_MS = 10_000;

const delayMs = (failures: number): number =>
  Math.min(1000 * 2 ** (failures - 1), MAX_DELAY_MS) * (0.5 + Math.random() / 2);

/** Waits; `wake` ends it early. */
function pause(ms: number, signal: AbortSignal, wake: EventTarget): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      wake.removeEventListener('wake', done);
      removeEventListener('online', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
    wake.addEventListener('wake', done);
    addEventListener('online', done);
  });
}

interface Following {
  readonly signal: AbortSignal;
  /** Ends a pause between two attempts. */
  readonly wake: EventTarget;
  /** The last known event id, from any tab; undefined: none, so the stream begins now. */
  readonly lastId: () => number | undefined;
  readonly tell: (news: LiveNews) => void;
}

/** Follows the events of the account until `signal`. Reports at once when the node is away, and reconnects until it is back. */
export async function followEvents({ signal, wake, lastId, tell }: Following): Promise<void> {
  let failures = 0;
  /** True if events after the last known one were removed: the stream continues from now. */
  let isGone = false;
  while (!signal.aborted) {
    const after = isGone ? undefined : lastId();
    const onOpen = (id: number) => {
      tell({ kind: 'open', isBehind: lastId() === undefined || failures > 0 });
      if (isGone || lastId() === undefined) tell({ kind: 'event', id, type: 'stream.open' });
      isGone = false;
      failures = 0;
    };
    try {
      for await (const { sequence, type } of liveClient.followEvents({
        signal,
        onOpen,
        ...(after === undefined ? {} : { after }),
      }))
        tell({ kind: 'event', id: sequence, type });
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && error.code === 'UNAUTHORIZED') return tell({ kind: 'over' });
      isGone ||= error instanceof ApiError && error.code === 'GONE';
    }
    failures += 1;
    tell({ kind: 'lost' });
    await pause(delayMs(failures), signal, wake);
  }
}
