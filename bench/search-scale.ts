/** Measures searches among 10,000, 100,000 and 1,000,000 agents, through HTTP. See README.md. */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { startEmbeddedPostgres } from '../packages/service/src/db/embedded-postgres.ts';
import { migrate } from '../packages/service/src/db/migrate.ts';
import { silentLog } from '../packages/service/src/lib/log/log.ts';
import { CALLERS, throughHttp } from './search-figures.ts';
import { searchKinds } from './search-questions.ts';
import { seedSearch } from './seed-search.ts';
import { type StopList, withStopList } from './stop-list.ts';

async function run(stops: StopList): Promise<void> {
  const { values } = parseArgs({ options: { agents: { type: 'string', default: '10000,100000,1000000' } } });
  const folder = await mkdtemp(join(tmpdir(), 'agent-network-search-'));
  stops.add(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o755);
  const postgres = await startEmbeddedPostgres({ dataDir: folder, log: silentLog });
  stops.add(() => postgres.stop());
  for (const agents of values.agents.split(',').map(Number)) {
    const admin = new pg.Client(postgres.url);
    await admin.connect();
    await admin.query(`create database search_${agents}`);
    await admin.end();
    const database = new URL(postgres.url);
    database.pathname = `/search_${agents}`;
    await migrate(database.href, silentLog);
    const startMs = performance.now();
    await seedSearch(database.href, agents);
    console.log(`\n${agents} agents, seeded in ${Math.round((performance.now() - startMs) / 1000)} s`);
    console.log(`${''.padEnd(52)}${`HTTP, ${CALLERS} callers`.padStart(18)}`);
    console.log(`${''.padEnd(52)}${'p50 ms   p99 ms'.padStart(18)}      /s`);
    const outside = await throughHttp(database.href, folder, stops);
    for (const kind of searchKinds)
      console.log(`${kind.isCommon ? '*' : ' '} ${kind.name.padEnd(50)}${outside.get(kind)}`);
  }
}

await withStopList(run);
