import type { Tx } from '../../db/sql.ts';
import type { HasClock } from '../../lib/clock.ts';
import type { IdPrefix } from '../../lib/id.ts';
import { isStillKept } from './idempotency.ts';

/**
 * Makes a call take effect once, however often it is repeated under its Idempotency-Key, even if a process dies meanwhile: work in one
 * transaction stores its answer there, and later work uses an id derived from the key.
 */
export interface Once {
  /**
   * Stores `data` as the answer of the call in the transaction that makes it true, and returns it: both or neither. Throws CONFLICT when
   * another process has taken the call over.
   */
  keep<T>(tx: Tx, data: T): Promise<T>;
  /** The key's nth id for a resource; null without a key. See `findMade`. */
  idFor(prefix: IdPrefix, nth: number): string | null;
  /** True when the call began before under its key and its progress is unknown. */
  readonly isRepeated: boolean;
}

/** A call without an Idempotency-Key: each is new. */
export const unkeyed: Once = { keep: async (_tx, data) => data, idFor: () => null, isRepeated: false };

/**
 * The resource made earlier under the call's key, while repeats still get it; else the id for a new one, null for any. A resource older
 * than a day, or one that is no answer, keeps its id: the key's next one gets the next id.
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
