import type { Sql } from '../../store/sql.ts';

/**
 * SQL: agents listed for search engines, which are those of this node with a proven endpoint. Agents of other nodes have their pages there.
 */
const indexed = `status <> 'removed' and home_node is null and endpoint_proven_at is not null`;

/** The first id of each step of `step` agents, in the order of ids. */
export async function findSitemapStarts(sql: Sql, step: number): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    'find-sitemap-starts',
    `select id from (select id, row_number() over (order by id) as place from agent where ${indexed}) as placed
     where (place - 1) % $1 = 0 order by id`,
    [step],
  );
  return rows.map(({ id }) => id);
}

export interface SitemapAgent {
  readonly id: string;
  readonly name: string;
  readonly updatedAt: Date;
}

/** The agents from one id up to, and without, another; null: to the end. */
export const findSitemapAgents = (
  sql: Sql,
  { from, to, limit }: { readonly from: string; readonly to: string | null; readonly limit: number },
): Promise<SitemapAgent[]> =>
  sql.query<SitemapAgent>(
    'find-sitemap-agents',
    `select id, name, updated_at as "updatedAt" from agent
     where ${indexed} and id >= $1 and ($2::text is null or id < $2) order by id limit $3`,
    [from, to, limit],
  );
