/** A node with many past invocations beside one with ten thousand: is it as fast, and how large is it? See bench/README.md. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type pg from 'pg';
import { fillTreasury } from '../bench-treasury.ts';
import { tell } from '../progress.ts';
import { type ServiceUnderTest, startService } from '../service-under-test.ts';
import { type StopList, withStopList } from '../stop-list.ts';
import { type Asked, askAll } from './ask.ts';
import { tableSizes } from './disk.ts';
import { fillCalls } from './fill.ts';
import { fillWorld } from './fill-world.ts';
import { printSizes, printTimes, printTrimming } from './print.ts';
import { questionsOf } from './questions.ts';
import { sampleCalls } from './sample-calls.ts';
import { type SizedName, sizedNames, startSizeServer, withClient } from './size-server.ts';
import { callWhileTrimming } from './trimming.ts';

/** Number of rows of the other node: enough for every list and cursor that is read. */
const FEW = 10_000;

const { values } = parseArgs({
  options: {
    invocations: { type: 'string', default: '1000000' },
    /** Kept after the run: a filled database is filled once. Default: a folder that is removed. */
    data: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '1' },
    trimming: { type: 'string', default: '60' },
  },
});
const [total, rounds, seconds] = [Number(values.invocations), Number(values.rounds), Number(values.seconds)];
const folder = values.data ?? join(tmpdir(), `agent-network-size-${process.pid}`);
/** Nothing is removed while times are compared. */
const KEEP = { KEEP_RESULTS_DAYS: '36500', KEEP_STREAMS_DAYS: '36500', KEEP_EVENTS_DAYS: '36500' };

async function run(stops: StopList): Promise<void> {
  if (values.data === undefined) stops.add(() => rm(folder, { recursive: true, force: true }));
  await fill();
  const server = await startSizeServer(stops, folder, true);
  const start = (name: SizedName, env: Record<string, string>) =>
    startService(stops, {
      isProfiled: false,
      dataDir: join(folder, `node-${name}`),
      env: { DATABASE_URL: server.urls[name], ...env },
    });
  for (const name of sizedNames) {
    const startMs = performance.now();
    const found = await reconcile(server.urls[name]);
    tell(`${name}: reconciled in ${seconds1(startMs)}: ${found}`);
  }
  const services = new Map<SizedName, ServiceUnderTest>();
  for (const name of sizedNames) {
    const startMs = performance.now();
    services.set(name, await start(name, KEEP));
    tell(`${name}: started in ${seconds1(startMs)}`);
  }
  const asked: Asked[] = [];
  for (const [name, service] of services)
    asked.push(await withClient(server.urls[name], (client) => askedOf(name, service, client)));
  const times = await askAll(asked, { rounds, seconds }, (name) => tell(`asking: ${name}`));
  console.log(printTimes(times));
  await withClient(server.urls.big, async (client) => {
    console.log(printSizes(await tableSizes(client), total));
    tell(`calling beside retention: ${values.trimming} s`);
    await services.get('big')?.stop();
    const trimming = await start('big', {});
    console.log(
      printTrimming(await callWhileTrimming(await askedOf('big', trimming, client), client, Number(values.trimming))),
    );
  });
}

const seconds1 = (sinceMs: number) => `${((performance.now() - sinceMs) / 1000).toFixed(1)} s`;

/** Runs the operator's check of all requests and the whole ledger. */
async function reconcile(url: string): Promise<string> {
  const script = fileURLToPath(new URL('../../packages/service/scripts/operator.ts', import.meta.url));
  const child = spawn(process.execPath, [script, 'reconcile'], {
    env: { ...process.env, DATABASE_URL: url },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  const [code] = await once(child, 'close');
  if (code === 0) return 'books equal';
  process.exitCode = 1;
  return `ended with ${code}: ${text.slice(0, SHOWN_TEXT)}`;
}

const SHOWN_TEXT = 1000;

const askedOf = async (name: SizedName, service: ServiceUnderTest, client: pg.Client): Promise<Asked> => ({
  ...{ name, baseUrl: service.local.baseUrl, apiKey: service.local.apiKey },
  questions: await questionsOf(service, client),
});

/** Fills both databases, on a server that need not survive a crash; an earlier run's are taken up where it ended. */
async function fill(): Promise<void> {
  await withStopList(async (stops) => {
    const server = await startSizeServer(stops, folder, false);
    for (const name of sizedNames) {
      const many = name === 'big' ? total : FEW;
      await withClient(server.urls[name], async (client) => {
        const { rows } = await client.query<{ there: boolean }>(
          `select to_regclass('bench.progress') is not null as there`,
        );
        if (!rows[0]?.there) await prepare(name, server.urls[name], many);
        await fillCalls(client);
        tell(`${name}: statistics of the planner`);
        await client.query('analyze');
      });
    }
  });
}

/**
 * Makes the real calls that are multiplied, and the accounts and agents of the rest. The USDC of their deposits is not on the chain: a local
 * node replaces at its start what its chain lacks.
 */
async function prepare(name: SizedName, url: string, many: number): Promise<void> {
  await withStopList(async (stops) => {
    const dataDir = join(folder, `node-${name}`);
    const service = await startService(stops, { isProfiled: false, dataDir, env: { DATABASE_URL: url } });
    await fillTreasury({ service });
    const samples = await sampleCalls(stops, service, url);
    for (const { kind, rows } of samples) tell(`${name}: a call (${kind}) leaves ${JSON.stringify(rows)}`);
    await service.stop();
    await withClient(url, (client) => fillWorld(client, samples, many));
  });
}

await withStopList(run);
