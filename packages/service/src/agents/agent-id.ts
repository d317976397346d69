import { createHash, randomBytes } from 'node:crypto';
import { Id } from '@agent-network/contracts/scalars';
import { encodeBase32, encodeTime } from '../lib/id.ts';

const SALT_BYTES = 16;
/** 80 bits of the hash: finding an id that matches another node's key takes brute force. */
const HASH_BYTES = 10;
const PREFIX = 'agt_';
/** First of the 50 bits that carry a 48-bit timestamp in milliseconds: set in ids that are bound to a home key. */
const BOUND_BIT = 2 ** 49;
const BOUND = /^agt_g/;

export interface NewAgentId {
  readonly id: string;
  /** null: the id is not bound to a key. */
  readonly idSalt: Buffer | null;
}

/**
 * A new agent id, bound to the home key of its node: its second half is a hash over the key, the first half and a salt. With the salt
 * anybody can verify that the node of that key made it, and no other node can make it. Without a key the second half is random.
 */
export function newAgentId(homeKey: string | null, now: Date): NewAgentId {
  const timeText = encodeTime(now.getTime() + (homeKey === null ? 0 : BOUND_BIT));
  if (homeKey === null) return { id: PREFIX + timeText + encodeBase32(randomBytes(HASH_BYTES)), idSalt: null };
  const idSalt = randomBytes(SALT_BYTES);
  return { id: PREFIX + timeText + hashText(timeText, homeKey, idSalt), idSalt };
}

/** False for text that can't be an id, such as text that PostgreSQL refuses. */
export const isId = (text: string): boolean => Id.safeParse(text).success;

/** True when the id is bound to a home key. */
export const isBoundId = (id: string): boolean => BOUND.test(id);

/** True when the node of this key made the id, verified with the salt. */
export function isIdOf(id: string, homeKey: string | null, salt: string | undefined): boolean {
  if (homeKey === null || salt === undefined || !isBoundId(id)) return false;
  const timeText = id.slice(PREFIX.length, PREFIX.length + 10);
  return id === PREFIX + timeText + hashText(timeText, homeKey, Buffer.from(salt, 'hex'));
}

const hashText = (timeText: string, homeKey: string, salt: Buffer): string =>
  encodeBase32(
    createHash('sha256')
      .update(`agent-network agent id\n${timeText}\n${homeKey.toLowerCase()}\n`)
      .update(salt)
      .digest()
      .subarray(0, HASH_BYTES),
  );
