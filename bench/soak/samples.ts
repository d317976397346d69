import { readdir, readFile } from 'node:fs/promises';
import { askDatabase } from '../../packages/service/test/support/books.ts';

export interface Sample {
  readonly rssMib: number;
  readonly handles: number;
  readonly connections: number;
  readonly calls: number;
  readonly tables: Readonly<Record<string, number>>;
}

/** Usage of the node, from the kernel and the database. Linux only. */
export async function sampleOf(pid: number, database: string, calls: number): Promise<Sample> {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? [];
  const [connected] = await askDatabase<{ count: number }>(
    database,
    "select count(*)::int as count from pg_stat_activity where datname = current_database() and backend_type = 'client backend'",
  );
  const sizes = await askDatabase<{ name: string; bytes: string }>(
    database,
    "select relname as name, pg_total_relation_size(oid) as bytes from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace",
  );
  return {
    rssMib: Number(kib) / 1024,
    handles: (await readdir(`/proc/${pid}/fd`)).length,
    // Less the one that asks.
    connections: (connected?.count ?? 0) - 1,
    calls,
    tables: Object.fromEntries(sizes.map(({ name, bytes }) => [name, Number(bytes)])),
  };
}
