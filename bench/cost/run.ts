/** Measures what one unit of each kind of work costs the node and its PostgreSQL: processor time, WAL, commits. See bench/README.md. */

import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { fillTreasury } from '../bench-treasury.ts';
import { startLoadGenerator } from '../load-generator.ts';
import { tell } from '../progress.ts';
import { startService } from '../service-under-test.ts';
import { type StopList, withStopList } from '../stop-list.ts';
import { commitRates } from './commit-rate.ts';
import { type CostKind, costKinds } from './kinds.ts';
import { differenceOf, readMeter } from './meter.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '6' },
    warmup: { type: 'string', default: '3' },
    callers: { type: 'string', default: '16' },
    /** Only kinds with this text in their name. */
    only: { type: 'string', default: '' },
  },
});
const [seconds, warmUpSeconds] = [Number(values.seconds), Number(values.warmup)];
const EVERY_MS = 50;

interface Cost {
  readonly kind: string;
  readonly count: number;
  readonly nodeMs: number;
  readonly databaseMs: number;
  readonly walBytes: number;
  readonly commits: number;
}

async function run(stops: StopList): Promise<void> {
  const service = await startService(stops, { isProfiled: false });
  const load = startLoadGenerator(stops);
  const ctx = { stops, service, load, seconds, rounds: 1, agents: [] };
  await fillTreasury(ctx);
  const { baseUrl, database } = service.local;
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  stops.add(() => client.end());
  const measure = async (work: () => Promise<number>) => {
    const before = await readMeter(baseUrl, client);
    const startMs = performance.now();
    const chunks = await work();
    await untilQuiet(client);
    return {
      chunks,
      tookMs: performance.now() - startMs,
      used: differenceOf(before, await readMeter(baseUrl, client)),
    };
  };
  const kinds = (await costKinds(ctx, Number(values.callers))).filter(({ name }) => name.includes(values.only));
  if (kinds.length === 0) throw new Error(`no kind of work holds "${values.only}"`);
  const measured: { kind: CostKind; of: Measured }[] = [];
  for (const kind of kinds) {
    tell(`${kind.name}: ${warmUpSeconds} s, then ${seconds} s`);
    await kind.run(warmUpSeconds);
    measured.push({ kind, of: await measure(() => kind.run(seconds)) });
  }
  // At the end: what a start brings has been done.
  tell('the processor time of a node without calls');
  const idle = await measure(() => sleep(seconds * 1000, 0));
  const costs = measured.map(({ kind, of }) => costOf(kind, of, idle));
  console.table(
    costs.map(({ kind, count, nodeMs, databaseMs, walBytes, commits }) => ({
      kind,
      measured: count,
      'node, ms': nodeMs.toFixed(3),
      'PostgreSQL, ms': databaseMs.toFixed(3),
      'WAL, bytes': Math.round(walBytes),
      commits: commits.toFixed(2),
    })),
  );
  tell('durable commits of one row each');
  const commits = await commitRates(database, seconds);
  console.table(
    commits.map(({ connections, perSecond, p50Ms }) => ({
      connections,
      'commits/s': perSecond.toFixed(0),
      'p50, ms': p50Ms.toFixed(2),
    })),
  );
  console.log(JSON.stringify({ costs, commits }));
}

type Measured = {
  readonly chunks: number;
  readonly tookMs: number;
  readonly used: Awaited<ReturnType<typeof readMeter>>;
};

/** Cost per unit, less the consumption of an idle node. */
function costOf({ name, per }: CostKind, { chunks, tookMs, used }: Measured, idle: Measured): Cost {
  const counts = { request: used.requests, call: used.invocations, chunk: chunks };
  const count = counts[per];
  const each = (key: 'nodeCpuMs' | 'databaseCpuMs' | 'walBytes' | 'commits') =>
    (used[key] - (idle.used[key] * tookMs) / idle.tookMs) / count;
  return {
    kind: name,
    count,
    nodeMs: each('nodeCpuMs'),
    databaseMs: each('databaseCpuMs'),
    walBytes: each('walBytes'),
    commits: each('commits'),
  };
}

/** Waits until all accepted work has ended and its events were sent. */
async function untilQuiet(client: pg.Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ open: boolean }>(
      `select exists (select from invocation where status in ('pending', 'processing')) or exists (select from event where needs_fan_out)
           or exists (select from webhook_delivery where state = 'pending') as open`,
    );
    if (!rows[0]?.open) return;
    await sleep(EVERY_MS);
  }
}

await withStopList(run);
