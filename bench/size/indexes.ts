import type pg from 'pg';
import { duration, tell } from '../progress.ts';
import { filledTables } from './fill-tables.ts';

/** Notes the indexes that are no constraints and drops them: rows are added several times as fast without. Repeating it does nothing. */
export async function dropIndexes(client: pg.Client): Promise<void> {
  const tables = [...new Set(filledTables.map(({ table }) => table))];
  await client.query('begin');
  await client.query(
    'create table if not exists bench.dropped_index (name text primary key, definition text not null)',
  );
  const { rows } = await client.query<{ name: string }>(
    `insert into bench.dropped_index
     select i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid) from pg_index i
      where i.indrelid = any($1::regclass[]) and not exists (select from pg_constraint c where c.conindid = i.indexrelid)
     returning name`,
    [tables],
  );
  for (const { name } of rows) await client.query(`drop index ${name}`);
  await client.query('commit');
}

/** Makes again what `dropIndexes` has dropped, one index at a time; goes on where an earlier run ended. */
export async function restoreIndexes(client: pg.Client): Promise<void> {
  await client.query(`set maintenance_work_mem = '1GB'`);
  const { rows } = await client.query<{ name: string; definition: string }>('table bench.dropped_index order by name');
  for (const [index, { name, definition }] of rows.entries()) {
    const startMs = performance.now();
    await client.query('begin');
    await client.query(definition);
    await client.query('delete from bench.dropped_index where name = $1', [name]);
    await client.query('commit');
    tell(`index ${index + 1} of ${rows.length}: ${name}, ${duration((performance.now() - startMs) / 1000)}`);
  }
}
