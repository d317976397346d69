/** Measures what a node without any calls costs in local mode: processor time, commits, WAL. See bench/README.md. */

import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { differenceOf, readMeter } from '../cost/meter.ts';
import { startService } from '../service-under-test.ts';
import { type StopList, withStopList } from '../stop-list.ts';

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '30' } } });
/** Time after which the work that a start leaves is done: its agents are registered and found. */
const SETTLED_MS = 15_000;

async function run(stops: StopList): Promise<void> {
  const { local } = await startService(stops, { isProfiled: false });
  const client = new pg.Client({ connectionString: local.database });
  await client.connect();
  stops.add(() => client.end());
  await sleep(SETTLED_MS);
  const before = await readMeter(local.baseUrl, client);
  const startMs = performance.now();
  await sleep(Number(values.seconds) * 1000);
  const used = differenceOf(before, await readMeter(local.baseUrl, client));
  const seconds = (performance.now() - startMs) / 1000;
  const each = (sum: number) => (sum / seconds).toFixed(1);
  console.log(`a node without calls, each of ${seconds.toFixed(0)} seconds:`);
  console.log(`node ${each(used.nodeCpuMs)} ms, PostgreSQL ${each(used.databaseCpuMs)} ms of processor time`);
  console.log(`${each(used.commits)} commits, ${each(used.walBytes / 1000)} kB of WAL`);
}

await withStopList(run);
