/** Measures how a fresh node reads 100,000 registrations: time, memory, rows per second. See README.md. */
import { fork } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startLocalChain } from '@agent-network/chain/local-chain';
import { silentLog } from '../packages/service/src/lib/telemetry/log.ts';
import { startEmbeddedPostgres } from '../packages/service/src/store/embedded-postgres.ts';
import { migrate } from '../packages/service/src/store/migrate.ts';
import { registerAgents } from './register-agents.ts';
import { type StopList, withStopList } from './stop-list.ts';

interface Taken {
  readonly seconds: number;
  readonly chainSeconds: number;
  readonly cpuSeconds: number;
  readonly startMib: number;
  readonly peakMib: number;
  readonly logs: number;
  readonly tokens: number;
}

async function run(stops: StopList): Promise<void> {
  const { values } = parseArgs({ options: { agents: { type: 'string', default: '100000' } } });
  const agents = Number(values.agents);
  const chain = await startLocalChain();
  stops.add(() => chain.stop());
  const startMs = performance.now();
  await registerAgents(chain.rpcUrl, agents);
  console.log(`${agents} agents registered in ${((performance.now() - startMs) / 1000).toFixed(0)} s`);
  const { seconds, chainSeconds, cpuSeconds, startMib, peakMib, logs, tokens } = await readAll(chain.rpcUrl, stops);
  if (tokens !== agents) throw new Error(`${agents} agents were registered, and ${tokens} are in the index`);
  console.log(
    `read by a fresh node in ${seconds.toFixed(1)} s: ${perSecond(tokens)} registrations/s, ${perSecond(logs + tokens)} rows/s`,
  );
  console.log(
    `${logs} rows of logs, ${tokens} of tokens; ${chainSeconds.toFixed(1)} s until anvil had told the logs and they were read; ${cpuSeconds.toFixed(1)} s of its processor time`,
  );
  console.log(`memory of the process: ${startMib.toFixed(0)} MiB before, ${peakMib.toFixed(0)} MiB at most`);

  function perSecond(count: number): string {
    return (count / seconds).toFixed(0);
  }
}

/** Reads in a separate process, so that its memory is that of the reading alone. */
async function readAll(rpcUrl: string, stops: StopList): Promise<Taken> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-network-index-'));
  stops.add(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o755);
  const postgres = await startEmbeddedPostgres({ dataDir: folder, log: silentLog });
  stops.add(() => postgres.stop());
  await migrate(postgres.url, silentLog);
  const child = fork(join(import.meta.dirname, 'index-child.ts'), [postgres.url, rpcUrl]);
  stops.add(async () => void child.kill());
  return new Promise((resolve, reject) => {
    child.once('message', (taken) => resolve(taken as Taken));
    child.once('exit', (code) => reject(new Error(`the reading process ended with ${code}`)));
  });
}

await withStopList(run);
