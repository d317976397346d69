import type { ShownOnce } from '@agent-network/contracts/access/shown-once';
import type { IdPrefix } from '../../lib/id.ts';
import type { Store } from '../../store/database.ts';
import type { Tx } from '../../store/sql.ts';
import { isStillKept } from './idempotency.ts';
import type { KeyToTake, LeftKey, SealedAnswer } from './idempotency-store.ts';

/**
 * Makes a call take effect once, however often it is repeated under its Idempotency-Key, even across a crash: work in one transaction
 * stores its answer there, and later work uses an id derived from the key.
 */
export interface Once {
  /**
   * Stores `data` as the answer of the call in the transaction that makes it true, and returns it: both or neither. Throws CONFLICT when
   * another process has taken the call over.
   */
  keep<T>(tx: Tx, data: T): Promise<T>;
  /**
   * The key's nth ids for a resource, that for a new one first; while the operator changes SECRET_KEY, those of older secrets follow. None
   * without a key. See `findByIdempotencyKey`.
   */
  idsFor(prefix: IdPrefix, nth: number): readonly string[];
  /** True when the call began before under its key and its progress is unknown. */
  readonly isRepeated: boolean;
  /** Absent: the key is taken, or there is none. */
  readonly late?: LateKey;
}

/**
 * A key that seems free, taken by the first transaction with an effect. Before that, `TakeKeyFirstError` may restart the call with its key
 * taken first.
 */
export interface LateKey {
  readonly key: KeyToTake & LeftKey;
  /** Called once the key is taken. */
  taken(): void;
  /** The answer with this data, to store in the transaction that makes it true. Call `kept` once it is stored. */
  answerOf(data: unknown): { readonly answer: SealedAnswer; kept(): void };
}

/** The key of a call is not free, or its call needs more than one transaction to be accepted: nothing was done. */
export class TakeKeyFirstError extends Error {
  override name = 'TakeKeyFirstError';
}

/** A call without an Idempotency-Key: each is new. */
export const unkeyed: Once = { keep: async (_tx, data) => data, idsFor: () => [], isRepeated: false };

/**
 * The resource made earlier under the call's key, while repeats still get it; else the id for a new one, null for any. `ids`: every id that it
 * may have. A resource older
 * than a day, or one that is no answer, keeps its id: the key's next one gets the next id.
 */
export async function findByIdempotencyKey<T extends { readonly createdAt: Date }>(
  ctx: Pick<Store, 'clock'>,
  once: Pick<Once, 'idsFor'>,
  prefix: IdPrefix,
  find: (id: string) => Promise<T | null>,
  isAnswer: (made: T) => boolean = () => true,
): Promise<{ readonly made: T | null; readonly id: string | null; readonly ids: readonly string[] }> {
  for (let nth = 1; ; nth++) {
    const ids = once.idsFor(prefix, nth);
    let made: T | null = null;
    for (const id of ids) made ??= await find(id);
    if (!made || (isStillKept(made.createdAt, ctx.clock.now()) && isAnswer(made)))
      return { made, id: ids[0] ?? null, ids };
  }
}

/** Splits an answer into its data for repeats and its secret, if any. */
export function splitSecret(
  data: unknown,
  shownOnce: ShownOnce | undefined,
): { readonly data: unknown; readonly secret: string | null } {
  const secret = shownOnce && (data as Readonly<Record<string, unknown>> | null)?.[shownOnce.field];
  if (!shownOnce || typeof secret !== 'string') return { data, secret: null };
  const secretNotice = `This was shown once, with the first answer. ${shownOnce.insteadOfIt}`;
  return { data: { ...(data as object), [shownOnce.field]: null, secretNotice }, secret };
}

/** Restores a secret that no answer has shown. */
export function joinSecret(data: unknown, { field }: ShownOnce, secret: string): unknown {
  const { secretNotice: _, ...rest } = data as Readonly<Record<string, unknown>>;
  return { ...rest, [field]: secret };
}
