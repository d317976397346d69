import type { Statement, Tx } from './sql.ts';

/** Rows that a transaction needs are locked by another: it was undone instead of waiting. */
export class HeldUpError extends Error {
  override name = 'HeldUpError';
  readonly names: ReadonlySet<string>;

  constructor(names: readonly string[]) {
    super(`others have locked ${names.join()}`);
    this.names = new Set(names);
  }
}

/** May a statement wait for rows that others have locked, or does the transaction throw HeldUpError? */
export type LockMode = 'wait' | 'skip';

export interface WantedRows {
  /** Name of the statement. */
  readonly name: string;
  readonly key: string;
  /** Table and condition. */
  readonly from: string;
  readonly params: readonly unknown[];
  /** Name of a row in the HeldUpError. */
  readonly nameOf: (key: string) => string;
}

const lockedBy = ({ key, from }: WantedRows) =>
  `free as materialized (select ${key} as key from ${from} order by ${key} for no key update skip locked), held as (
     select ${key} as key from ${from} except all select key from free)`;

/** Flush guard that fails if any of the rows is locked. Its error does not contain their names. */
export const freeRowsGuard = (rows: WantedRows): Statement => ({
  name: `${rows.name}-guard`,
  text: `with ${lockedBy(rows)} select require_true(not exists (select from held))`,
  params: rows.params,
});

/** Locks the rows in the order of their keys without waiting. Throws HeldUpError with the names of those that others have locked. */
export async function lockFree(tx: Tx, wanted: WantedRows): Promise<void> {
  const text = `with ${lockedBy(wanted)} select key from held`;
  const rows = await tx.query<{ key: string }>(wanted.name, text, wanted.params);
  if (rows.length > 0) throw new HeldUpError(rows.map(({ key }) => wanted.nameOf(key)));
}
