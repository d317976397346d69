import type { IncomingMessage } from 'node:http';
import { createBytePieces } from '../../lib/byte-pieces.ts';

const JOINED_BYTES = 16 * 1024;

/**
 * Joins the pieces of a body as they arrive, until there are 16 KiB or its end: Node keeps each chunk, or what each packet of a body with a
 * length brings, as a buffer of its own, of 200 bytes and more beside its bytes, until the request is read, which may wait for its turn.
 * To be called before the first of them is there.
 */
export function joinChunks(incoming: IncomingMessage): void {
  const { 'transfer-encoding': coding, 'content-length': length } = incoming.headers;
  if (coding === undefined && (length === undefined || length === '0')) return;
  const chunks = createBytePieces();
  const push = incoming.push.bind(incoming);
  incoming.push = (chunk: Buffer | null) => {
    if (chunk !== null) chunks.add(chunk);
    // Only what was pushed may hold the sender back: its reader would not ask for more.
    if (chunk !== null && chunks.byteLength < JOINED_BYTES) return true;
    const isWanted = chunks.byteLength === 0 || push(chunks.take());
    return chunk === null ? push(null) : isWanted;
  };
}
