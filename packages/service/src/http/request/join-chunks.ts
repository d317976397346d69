import type { IncomingMessage } from 'node:http';
import { createBytePieces } from '../../lib/byte-pieces.ts';

const JOINED_BYTES = 16 * 1024;

/**
 * Joins the chunks of a body as they arrive: Node keeps each as a buffer of its own, of 200 bytes and more beside its bytes, until the
 * request is read, which may wait for its turn. To be called before the first of them is there.
 */
export function joinChunks(incoming: IncomingMessage): void {
  if (incoming.headers['transfer-encoding'] === undefined) return;
  const chunks = createBytePieces();
  const push = incoming.push.bind(incoming);
  let isPassing = false;
  const pass = () => chunks.byteLength === 0 || push(chunks.take());
  const passSoon = () => {
    if (isPassing) return;
    isPassing = true;
    setImmediate(() => {
      isPassing = false;
      pass();
    });
  };
  incoming.push = (chunk: Buffer | null) => {
    if (chunk === null) {
      pass();
      return push(null);
    }
    chunks.add(chunk);
    if (chunks.byteLength >= JOINED_BYTES) return pass();
    passSoon();
    return incoming.readableLength + chunks.byteLength < incoming.readableHighWaterMark;
  };
}
