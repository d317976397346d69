import type { Sql } from '../../db/sql.ts';

/** The terms with this mark that most agents have, the most common first. Reads the counts of all that have it. */
export async function listCommonTerms(sql: Sql, mark: '=' | '@', limit: number): Promise<string[]> {
  const rows = await sql.query<{ term: string }>(
    'list-common-terms',
    `select term from agent_count where term >= $1 and term < $2
      group by term having sum(change) > 0 order by sum(change) desc, term limit $3`,
    [mark, String.fromCharCode(mark.charCodeAt(0) + 1), limit],
  );
  return rows.map(({ term }) => term);
}

/** Labels of nodes. */
export async function listNodeLabels(sql: Sql, nodeIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await sql.query<{ id: string; label: string }>(
    'list-node-labels',
    'select id, label from network_node where id = any($1)',
    [nodeIds],
  );
  return new Map(rows.map(({ id, label }) => [id, label]));
}
