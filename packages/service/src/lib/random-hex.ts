import { randomFillSync } from 'node:crypto';

/** Filled at once, as each call for random bytes costs as much as thousands of them. */
const pool = Buffer.alloc(4096);
let offset = pool.length;

/** Random bytes as hexadecimal text; at most 4096. No byte is given out twice, nor kept. */
export function randomHex(bytes: number): string {
  if (offset + bytes > pool.length) {
    randomFillSync(pool);
    offset = 0;
  }
  const text = pool.toString('hex', offset, offset + bytes);
  pool.fill(0, offset, offset + bytes);
  offset += bytes;
  return text;
}
