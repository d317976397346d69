import type { Context } from 'hono';
import { connectionOf } from './answer-watch.ts';
import { PIECE_BYTES, sendTurn } from './large-body.ts';

/** The content of a file as the result of a handler, or an answer about it without a body. */
export class FileAnswer {
  readonly status: 200 | 206 | 304 | 416;
  readonly headers: Readonly<Record<string, string>>;
  /** null: no body. */
  readonly content: AsyncIterable<Uint8Array<ArrayBuffer>> | null;
  /** Maximum bytes that are held in memory while it is sent. */
  readonly heldBytes: number;

  constructor(
    status: FileAnswer['status'],
    headers: FileAnswer['headers'],
    content: FileAnswer['content'] = null,
    heldBytes = 0,
  ) {
    this.status = status;
    this.headers = headers;
    this.content = content;
    this.heldBytes = heldBytes;
  }
}

/** Time after which a content that is still being sent is broken off; its reader goes on with a range. */
const WHOLE_MS = 10 * 60_000;

interface Sending {
  /** The peers with this name share their turns. */
  readonly group: string;
  /** Counts what is held in memory; returns how to free it. Throws when its reader has too much unread. */
  readonly hold: () => () => void;
  readonly sent: (bytes: number) => void;
  readonly breakOff: (reason: Error) => void;
}

/** The body of an answer: pieces as the client takes them, with other work in between. */
export function contentBody(
  { content }: FileAnswer,
  c: Context,
  { group, hold, sent, breakOff }: Sending,
): ReadableStream<Uint8Array> | null {
  const outgoing = connectionOf(c)?.outgoing;
  if (!content || c.req.method === 'HEAD' || outgoing?.destroyed) return null;
  const pieces = content[Symbol.asyncIterator]();
  const free = hold();
  const endMs = performance.now() + WHOLE_MS;
  let rest: Uint8Array<ArrayBuffer> = new Uint8Array();
  const stop = () => {
    free();
    void pieces.return?.().catch(() => undefined);
  };
  outgoing?.once('close', stop);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          if (performance.now() > endMs) throw new Error('the content was not taken in time');
          while (rest.byteLength === 0) {
            const next = await pieces.next();
            if (next.done) return controller.close();
            rest = next.value;
          }
          await sendTurn(group);
          const piece = rest.subarray(0, PIECE_BYTES);
          rest = rest.subarray(PIECE_BYTES);
          sent(piece.byteLength);
          controller.enqueue(piece);
        } catch (error) {
          // Its length was announced: only a broken connection tells that it is not whole.
          breakOff(error as Error);
          controller.error(error);
        }
      },
      cancel: stop,
    },
    { highWaterMark: 0 },
  );
}
