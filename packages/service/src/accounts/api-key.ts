import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { apiKeyPattern } from '@agent-network/contracts/access/access';

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ID_CHARS = 12;
/** 43 base62 characters hold 256 bits. */
export const SECRET_CHARS = 43;
const CHECKSUM_CHARS = 6;

export const randomText = (length: number) => Array.from({ length }, () => base62[randomInt(62)]).join('');

/** The last characters of a key, which detect a mistyped one without a query. */
export function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let i = 0; i < CHECKSUM_CHARS; i++) {
    digits = base62[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** A new API key and its public id. `live` keys move real money, `test` keys a test network's. */
export function newApiKey(mode: 'live' | 'test'): { key: string; id: string } {
  const id = randomText(ID_CHARS);
  const body = `ank_${mode}_${id}_${randomText(SECRET_CHARS)}`;
  return { key: body + checksum(body), id };
}

/** The public id of a well-formed key; null for anything else, without a query. */
export function parseApiKey(key: string): string | null {
  const match = apiKeyPattern.exec(key);
  const body = key.slice(0, -CHECKSUM_CHARS);
  return match?.[2] && checksum(body) === key.slice(-CHECKSUM_CHARS) ? match[2] : null;
}

/** The stored hash of a key or token. The secret has 256 random bits, so a plain hash is enough. */
export const hashSecret = (secret: string): Buffer => hash('sha256', secret, 'buffer');

/** The part of a key that may be shown for recognition. */
export const keyStart = (key: string): string => key.slice(0, 'ank_live_'.length + 4);
