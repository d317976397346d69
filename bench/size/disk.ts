import type pg from 'pg';

export interface TableSize {
  readonly table: string;
  readonly rows: number;
  readonly tableBytes: number;
  readonly indexBytes: number;
}

/** The tables of the node, largest first, with estimates of their rows. */
export async function tableSizes(client: pg.Client): Promise<TableSize[]> {
  const { rows } = await client.query<TableSize>(
    `select c.relname as table, c.reltuples::float8 as rows, pg_table_size(c.oid)::float8 as "tableBytes", pg_indexes_size(c.oid)::float8 as "indexBytes"
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = 'public' and c.relkind = 'r' and pg_total_relation_size(c.oid) > 1048576 order by pg_total_relation_size(c.oid) desc`,
  );
  return rows;
}
