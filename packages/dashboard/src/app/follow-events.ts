import { readSse } from './read-sse.ts';

/** What happened to the stream of events of the account. */
export type LiveNews =
  | { readonly kind: 'event'; readonly id: string; readonly type: string }
  /** It is open. What was read before may be old when it was away, or when it did not begin where the page did. */
  | { readonly kind: 'open'; readonly isBehind: boolean }
  /** The node was asked and gives no stream. It goes on being asked. */
  | { readonly kind: 'lost' }
  /** The session has ended. */
  | { readonly kind: 'over' };

/** The node says something at least every 15 seconds; after this the connection is taken for dead. */
const SILENT_MS = 40_000;
const LONGEST_DELAY_MS = 10_000;

/** None after the stream just ended, as it does when the node stops in order; then longer and longer. */
export const delayMs = (failures: number, random: number): number =>
  (failures === 0 ? 500 : Math.min(1000 * 2 ** (failures - 1), LONGEST_DELAY_MS)) * (0.5 + random / 2);

interface Connection {
  readonly lastId: string | undefined;
  readonly signal: AbortSignal;
  readonly onOpen: (id: string) => void;
  readonly onEvent: (id: string, type: string) => void;
}

/** One connection, until it ends. 'over': the node knows no such session. */
async function connect({ lastId, signal, onOpen, onEvent }: Connection): Promise<'over' | 'ended'> {
  const silence = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const hear = () => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), SILENT_MS);
  };
  hear();
  try {
    const headers = { accept: 'text/event-stream', ...(lastId ? { 'last-event-id': lastId } : {}) };
    const response = await fetch('/events', { headers, signal: AbortSignal.any([signal, silence.signal]) });
    if (response.status === 401) return 'over';
    if (!response.ok || !response.body) return 'ended';
    for await (const { id, type } of readSse(response.body, hear))
      if (type === 'stream.open') onOpen(id);
      else onEvent(id, type);
  } catch {
    // The node is away, or this page is about to be.
  } finally {
    clearTimeout(timer);
  }
  return 'ended';
}

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
  /** The last event that is known, told by whoever; undefined: none is, and the stream begins now. */
  readonly lastId: () => string | undefined;
  readonly tell: (news: LiveNews) => void;
}

/** Follows the events of the account until `signal`; taken up behind the last one known whenever the connection ends. */
export async function followEvents({ signal, wake, lastId, tell }: Following): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    const after = lastId();
    let hasOpened = false;
    const onOpen = (id: string) => {
      hasOpened = true;
      tell({ kind: 'open', isBehind: after === undefined || failures > 0 });
      if (after === undefined) tell({ kind: 'event', id, type: 'stream.open' });
    };
    const onEvent = (id: string, type: string) => tell({ kind: 'event', id, type });
    const end = await connect({ lastId: after, signal, onOpen, onEvent });
    if (signal.aborted) return;
    if (end === 'over') return tell({ kind: 'over' });
    failures = hasOpened ? 0 : failures + 1;
    if (failures > 0) tell({ kind: 'lost' });
    await pause(delayMs(failures, Math.random()), signal, wake);
  }
}
