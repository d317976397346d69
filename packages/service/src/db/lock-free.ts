import type { Tx } from './sql.ts';

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

interface WantedRows {
  /** Name of the statement. */
  readonly name: string;
  readonly key: string;
  /** Table and condition. */
  readonly from: string;
  readonly params: readonly unknown[];
  /** Name of a row in the HeldUpError. */
  readonly nameOf: (key: string) => string;
}

/** Locks the rows in the order of their keys without waiting. Throws HeldUpError with the names of those that others have locked. */
export async function lockFree(tx: Tx, { name, key, from, params, nameOf }: WantedRows): Promise<void> {
  const rows = await tx.query<{ key: string }>(
    name,
    `with free as materialized (select ${key} as key from ${from} order by ${key} for no key update skip locked)
     select ${key} as key from ${from} except all select key from free`,
    params,
  );
  if (rows.length > 0) throw new HeldUpError(rows.map((row) => nameOf(row.key)));
}
