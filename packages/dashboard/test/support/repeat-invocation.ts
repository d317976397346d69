import { askDatabase } from '../../../service/test/support/books.ts';
import { recountUse } from '../../../service/test/support/recount-use.ts';

/** Puts `count` more like this one into the history of its account: `task 1` a minute older, and so on; each tenth failed. */
export async function repeatInvocation(databaseUrl: string, requestId: string, count: number): Promise<void> {
  const columns = await askDatabase<{ name: string }>(
    databaseUrl,
    `select column_name as name from information_schema.columns where table_name = 'invocation' and is_generated = 'NEVER'`,
  );
  const names = columns.map(({ name }) => name);
  const changed: Readonly<Record<string, string>> = {
    id: `v.id || 'x' || n`,
    task: `'task ' || n`,
    status: `case when n % 10 = 0 then 'failed' else v.status end`,
    created_at: `v.created_at - n * interval '1 minute'`,
  };
  await askDatabase(
    databaseUrl,
    `insert into invocation (${names.join(', ')})
     select ${names.map((name) => changed[name] ?? `v.${name}`).join(', ')}
       from invocation v, generate_series(1, ${count}) n where v.id = '${requestId}'`,
  );
  await recountUse(databaseUrl);
}
