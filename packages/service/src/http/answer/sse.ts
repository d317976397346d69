import type { Socket } from 'node:net';
import { joined, prepareJson } from '../../lib/json/prepared-json.ts';

/** One server-sent event; `data` is sent as one line of JSON. */
export interface SseEvent {
  readonly id: number;
  readonly type: string;
  readonly data: unknown;
}

/** Streaming result of a handler, in place of data. Aborted when the client disconnects. */
export class SseAnswer {
  readonly open: (signal: AbortSignal) => AsyncIterable<SseEvent>;
  /** False for the work of a call that was made with it, which is more than reading. */
  readonly isRead: boolean;
  /**
   * True if the reader has all events there will ever be: 204, the only answer after which an `EventSource` does not reconnect (WHATWG
   * HTML, 9.2.3).
   */
  readonly isOver: boolean;

  constructor(open: (signal: AbortSignal) => AsyncIterable<SseEvent>, { isRead = true, isOver = false } = {}) {
    this.open = open;
    this.isRead = isRead;
    this.isOver = isOver;
  }
}

const HEARTBEAT_MS = 15_000;
/** Time after which a client that reads nothing is disconnected; it reconnects with `Last-Event-ID`. */
const STALLED_MS = 30_000;
const RETRY_MS = 2000;

export class StalledError extends Error {
  override name = 'StalledError';

  constructor() {
    super('the client stopped reading');
  }
}

export const sseHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
};

/** A comment, without a blank line: some clients take that for an event without data. */
const HEARTBEAT = ': alive\n';

const encoder = new TextEncoder();

export function encodeEvent({ id, type, data }: SseEvent): Uint8Array {
  return joined([`id: ${id}\nevent: ${type}\ndata: `, ...prepareJson(data).pieces, '\n\n']);
}

/** The connection that carries a stream. */
export interface StreamLink {
  /** The socket of the client. The stream ends when it closes, even while the answer waits behind others on the connection. */
  readonly socket: Pick<Socket, 'once' | 'off'> | null;
  /** Ends the connection: the client stopped reading, or the events ended in an error. */
  readonly breakOff: ((reason: Error) => void) | null;
  /** Called with the bytes of each event. */
  readonly sent?: (bytes: number) => void;
  /** Called when there are no more events; written ones may still be unread. */
  readonly ended?: () => void;
}

/** The stream of an endpoint. */
export const sseBody = (answer: SseAnswer, link?: StreamLink): ReadableStream<Uint8Array> =>
  streamBody({ open: answer.open, encode: encodeEvent, opening: `retry: ${RETRY_MS}\n\n` }, link);

/** Source of a stream: its opening bytes, then its events. */
export interface StreamSource<T> {
  readonly open: (signal: AbortSignal) => AsyncIterable<T>;
  readonly encode: (event: T) => Uint8Array;
  readonly opening: string;
}

/**
 * Produces the bytes of a stream at the pace of the client: unread events are not produced, so a slow reader costs no memory. Comments keep
 * an idle connection alive. Throws the error of opening the stream; then nothing is left open.
 */
export function streamBody<T>(
  { open, encode, opening }: StreamSource<T>,
  { socket, breakOff, sent, ended }: StreamLink = { socket: null, breakOff: null },
): ReadableStream<Uint8Array> {
  const hangUp = new AbortController();
  const events = open(hangUp.signal)[Symbol.asyncIterator]();
  let isOver = false;
  let heartbeat: NodeJS.Timeout | undefined;
  let stalled: NodeJS.Timeout | undefined;
  const stop = () => {
    isOver = true;
    socket?.off('close', stop);
    clearInterval(heartbeat);
    clearTimeout(stalled);
    hangUp.abort();
    // A source that waits for its event to be read does not see the signal.
    void events.return?.().catch(() => undefined);
  };
  socket?.once('close', stop);
  const fail = (controller: ReadableStreamDefaultController, reason: Error) => {
    stop();
    if (breakOff) breakOff(reason);
    else controller.error(reason);
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        if (opening) controller.enqueue(encoder.encode(opening));
        heartbeat = setInterval(() => {
          if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(HEARTBEAT));
        }, HEARTBEAT_MS);
      },
      async pull(controller) {
        clearTimeout(stalled);
        try {
          const { value, done } = await events.next();
          if (isOver) return;
          if (done) {
            stop();
            ended?.();
            controller.close();
            return;
          }
          const bytes = encode(value);
          sent?.(bytes.byteLength);
          controller.enqueue(bytes);
          stalled = setTimeout(() => fail(controller, new StalledError()), STALLED_MS);
        } catch (error) {
          if (!isOver) fail(controller, error as Error);
        }
      },
      cancel: stop,
    },
    { highWaterMark: 1 },
  );
}
