import type { Tx } from '../../db/sql.ts';
import type { HasClock } from '../../lib/clock.ts';
import type { IdPrefix } from '../../lib/id.ts';
import { isStillKept } from './idempotency.ts';

/**
 * What makes a call happen once, however often it is repeated under its Idempotency-Key, also when a process dies over it: what is
 * done within one transaction keeps its answer there, and what goes on after it is made under an id that follows from the key.
 */
export interface Once {
  /**
   * Keeps `data` as the answer of the call in the transaction that makes it true, and returns it: both happen, or neither. Throws
   * CONFLICT when another process has taken the call over meanwhile.
   */
  keep<T>(tx: Tx, data: T): Promise<T>;
  /** The key's first, second … id for a thing; null without a key. See `findMade`. */
  idFor(prefix: IdPrefix, nth: number): string | null;
  /** Whether the call began before under its key and nobody knows how far it came. */
  readonly isRepeated: boolean;
}

/** A call without an Idempotency-Key: each is new. */
export const unkeyed: Once = { keep: async (_tx, data) => data, idFor: () => null, isRepeated: false };

/**
 * What the call made before under its key, while repetitions still get it; else the id to make it under, null for any. A thing of
 * more than a day ago, and one that is no answer, keeps its id: the key's next is made under the next.
 */
export async function findMade<T extends { readonly createdAt: Date }>(
  ctx: HasClock,
  once: Pick<Once, 'idFor'>,
  prefix: IdPrefix,
  find: (id: string) => Promise<T | null>,
  isAnswer: (made: T) => boolean = () => true,
): Promise<{ readonly made: T | null; readonly id: string | null }> {
  for (let nth = 1; ; nth++) {
    const id = once.idFor(prefix, nth);
    const made = id === null ? null : await find(id);
    if (!made || (isStillKept(made.createdAt, ctx.clock.now()) && isAnswer(made))) return { made, id };
  }
}
