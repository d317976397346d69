import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { getRequestListener, HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { largeBody, PIECE_BYTES } from './large-body.ts';

/** The fetch callback of the Node adapter. */
type Fetch = Parameters<typeof getRequestListener>[0];

/** Time after which an answer is aborted if the client reads nothing; streams send something every 15 s. */
export const STALLED_MS = 45_000;
/** Time within which an answer must be read, however steadily the client reads a little; a stream has as long again after its end. */
export const WHOLE_MS = 120_000;
const LOOK_MS = 5000;

/** Watches that clients read their answers: an unread one is held in memory. */
export interface AnswerWatch {
  /** Registers a request. Call `answered` once its answer exists, and `closed` once it was read or its connection ended. */
  asked(socket: Socket, outgoing: ServerResponse): { answered(): void; closed(): void };
  stop(): void;
}

/** Streams that have ended. The adapter ends an answer only once the kernel has taken all of it, which a slow reader puts off. */
const over = new WeakSet<object>();

/** Call this when a stream has no more events, whether or not they are read. */
export function recordStreamEnd(c: Context): void {
  const connection = connectionOf(c);
  if (connection) over.add(connection.outgoing);
}

/** Records the end of a stream with a source that does not wait for its reader. */
export const recordingEnd = (c: Context, body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> =>
  body.pipeThrough(new TransformStream({ flush: () => recordStreamEnd(c) }, undefined, { highWaterMark: Infinity }));

interface Leaving {
  readonly socket: Socket;
  readonly sinceMs: number;
  /** True for a stream that had ended before. */
  readonly isEnded: boolean;
}

export function createAnswerWatch(): AnswerWatch {
  const leaving = new Map<ServerResponse, Leaving>();
  const look = () => {
    const nowMs = performance.now();
    for (const [outgoing, { socket, sinceMs, isEnded }] of leaving) {
      if (sinceMs > nowMs - WHOLE_MS) break;
      leaving.delete(outgoing);
      if (isEnded || !isStream(outgoing)) socket.destroy();
      else leaving.set(outgoing, { socket, sinceMs: nowMs, isEnded: outgoing.writableEnded || over.has(outgoing) });
    }
  };
  const timer = setInterval(look, LOOK_MS).unref();
  return {
    asked(socket, outgoing) {
      // No timeout while the request is handled.
      socket.setTimeout(0);
      return {
        answered() {
          if (outgoing.destroyed || outgoing.writableFinished) return;
          leaving.set(outgoing, { socket, sinceMs: performance.now(), isEnded: false });
          socket.setTimeout(STALLED_MS);
        },
        closed: () => void leaving.delete(outgoing),
      };
    },
    stop: () => clearInterval(timer),
  };
}

/** True for events, and for contents of files, which bound their own time. Checks the sent headers, as `getHeader` does not know those passed to `writeHead`, which the Node adapter uses. */
const isStream = (outgoing: ServerResponse & { readonly _header?: string | null }) =>
  /^(content-type: text\/event-stream|accept-ranges: bytes)/im.test(outgoing._header ?? '');

/** Watches the answer of each request that is handled. */
export function watched(handle: Fetch, watch: AnswerWatch): Fetch {
  return (request, env) => {
    const { incoming, outgoing } = env as HttpBindings;
    const asked = watch.asked(incoming.socket, outgoing);
    outgoing.once('close', asked.closed);
    const answer = handle(request, env);
    if (answer instanceof Promise) void answer.then(asked.answered, asked.answered);
    else asked.answered();
    return answer;
  };
}

/** null: a request without a connection (in tests). */
export const connectionOf = (c: Context): HttpBindings | null =>
  (c.env as HttpBindings | undefined)?.incoming ? (c.env as HttpBindings) : null;

/** The bytes of an answer as its body: a large one leaves in pieces, by default in the turns of its peer. The answer needs `content-length`. */
export function bodyOf(
  c: Context,
  bytes: Uint8Array<ArrayBuffer>,
  group?: string,
): Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>> {
  const connection = connectionOf(c);
  if (bytes.byteLength <= PIECE_BYTES || !connection) return bytes;
  return largeBody(bytes, group ?? connection.incoming.socket.remoteAddress ?? '');
}
