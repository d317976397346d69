import { randomFillSync } from 'node:crypto';

export type IdPrefix =
  | 'acc'
  | 'chg'
  | 'agt'
  | 'chl'
  | 'req'
  | 'qte'
  | 'blk'
  | 'evt'
  | 'dlv'
  | 'key'
  | 'nod'
  | 'trf'
  | 'pay'
  | 'trs'
  | 'wdr'
  | 'fpo'
  | 'whk'
  | 'ses'
  | 'aud'
  | 'prc'
  | 'rgw'
  | 'clm'
  | 'col'
  | 'crf'
  | 'typ'
  | 'upl'
  | 'inp';

/** Crockford's base32 in lower case: sorts like the encoded numbers, and has no i, l, o, u. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_CHARS = 10;
const RANDOM_CHARS = 16;

const pool = new Uint8Array(RANDOM_CHARS * 256);
let poolOffset = pool.length;
let timeMs = -1;
let timeText = '';

/**
 * Returns a new id such as `req_01k9…`: 48 bits of milliseconds, then 80 random bits. Ids of different milliseconds sort by time, those of
 * the same millisecond in no order. Pass `nowMs` where others list rows of several processes by id.
 */
export function newId<P extends IdPrefix>(prefix: P, nowMs: number = Date.now()): `${P}_${string}` {
  if (nowMs !== timeMs) {
    timeMs = nowMs;
    timeText = encodeTime(nowMs);
  }
  if (poolOffset === pool.length) {
    randomFillSync(pool);
    poolOffset = 0;
  }
  let random = '';
  for (const end = poolOffset + RANDOM_CHARS; poolOffset < end; poolOffset++) {
    random += ALPHABET[(pool[poolOffset] as number) & 31];
  }
  return `${prefix}_${timeText}${random}`;
}

/** Fifty bits: of milliseconds, or more than those. */
export function encodeTime(ms: number): string {
  let rest = ms;
  let text = '';
  for (let i = 0; i < TIME_CHARS; i++) {
    text = ALPHABET[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

/** Encodes bytes as base32. The number of their bits must be a multiple of five. */
export function encodeBase32(bytes: Uint8Array): string {
  let rest = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  let text = '';
  for (let i = 0; i < (bytes.length * 8) / 5; i++) {
    text = ALPHABET[Number(rest % 32n)] + text;
    rest /= 32n;
  }
  return text;
}
