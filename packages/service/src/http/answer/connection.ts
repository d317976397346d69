import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { largeBody, PIECE_BYTES } from './large-body.ts';

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
