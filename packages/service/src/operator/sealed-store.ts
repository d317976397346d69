import type { Sql } from '../store/sql.ts';

/** A column with values that the node's secret seals. */
export interface SealedColumn {
  readonly table: string;
  readonly column: string;
}

/** Every column with sealed values. */
export const sealedColumns: readonly SealedColumn[] = [
  { table: 'agent', column: 'token_sealed' },
  { table: 'agent', column: 'upstream_headers_sealed' },
  { table: 'webhook', column: 'secret_sealed' },
  { table: 'webhook', column: 'old_secret_sealed' },
  { table: 'network_node', column: 'api_key_sealed' },
  { table: 'card_key', column: 'sealed' },
  { table: 'a2a_push', column: 'sealed' },
  { table: 'idempotency', column: 'answer_sealed' },
  { table: 'idempotency', column: 'secret_sealed' },
];

interface SealedValue {
  /** Place of the row in its table, until the row changes. */
  readonly place: string;
  readonly sealed: Buffer;
}

export const sealedAfter = (
  sql: Sql,
  { table, column }: SealedColumn,
  place: string,
  most: number,
): Promise<SealedValue[]> =>
  sql.query<SealedValue>(
    `sealed-${table}-${column}`,
    `select ctid::text as place, ${column} as sealed from ${table} where ctid > $1::tid and ${column} is not null order by ctid limit $2`,
    [place, most],
  );

/** Replaces a sealed value that is still the same. Returns the number of replaced values, 0 or 1. */
export async function resealAt(
  sql: Sql,
  { table, column }: SealedColumn,
  { place, sealed, anew }: SealedValue & { readonly anew: Buffer },
): Promise<number> {
  const rows = await sql.query(
    `reseal-${table}-${column}`,
    `update ${table} set ${column} = $3 where ctid = $1::tid and ${column} = $2 returning 1`,
    [place, sealed, anew],
  );
  return rows.length;
}
