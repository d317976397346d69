import type pg from 'pg';

export type TableCounts = ReadonlyMap<string, number>;

/** Rows of each table of the node, counted exactly: for small databases. */
export async function countTables(client: pg.Client): Promise<TableCounts> {
  const tables = await client.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind = 'r' and n.nspname = 'public' order by 1`,
  );
  const counts = new Map<string, number>();
  for (const { name } of tables.rows) {
    const { rows } = await client.query<{ count: number }>(`select count(*)::int as count from "${name}"`);
    counts.set(name, rows[0]?.count ?? 0);
  }
  return counts;
}

/** The tables that have more rows or fewer, and how many. */
export const changeOf = (before: TableCounts, after: TableCounts): Record<string, number> =>
  Object.fromEntries(
    [...after]
      .map(([name, count]) => [name, count - (before.get(name) ?? 0)] as const)
      .filter(([, change]) => change !== 0),
  );
