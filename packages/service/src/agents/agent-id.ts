import { createHash, randomBytes } from 'node:crypto';
import { encodeBase32, encodeTime } from '../lib/id.ts';

const SALT_BYTES = 16;
/** 80 bits of the hash: an id of another's key would have to be found by trying. */
const HASH_BYTES = 10;
const PREFIX = 'agt_';
/** Of the 50 bits that stand for 48 bits of milliseconds, the first: set in ids that name the key of their home. */
const BOUND_BIT = 2 ** 49;
const BOUND = /^agt_g/;

export interface NewAgentId {
  readonly id: string;
  /** null: the id names no key. */
  readonly idSalt: Buffer | null;
}

/**
 * A new id for an agent of the node whose key this is. Its second half is a hash over the key, the first half and a salt: with the salt
 * anybody sees that the node of that key made it, and nobody else can have made it. Without a key it is as random as any.
 */
export function newAgentId(homeKey: string | null, now: Date): NewAgentId {
  const timeText = encodeTime(now.getTime() + (homeKey === null ? 0 : BOUND_BIT));
  if (homeKey === null) return { id: PREFIX + timeText + encodeBase32(randomBytes(HASH_BYTES)), idSalt: null };
  const idSalt = randomBytes(SALT_BYTES);
  return { id: PREFIX + timeText + hashText(timeText, homeKey, idSalt), idSalt };
}

/** Whether an id names the key of its home. */
export const isBoundId = (id: string): boolean => BOUND.test(id);

/** Whether the node of this key made the id, as the salt shows. */
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
