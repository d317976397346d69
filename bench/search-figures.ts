import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AgentSearch } from '@agent-network/contracts/agents/agent-search';
import { searchAgents } from '../packages/service/src/agents/search/search-agents.ts';
import { openDatabase } from '../packages/service/src/db/database.ts';
import { silentLog } from '../packages/service/src/lib/log/log.ts';
import { createSecrets } from '../packages/service/src/lib/secrets.ts';
import { startNode } from './child-process.ts';
import { openConnection, requestText } from './http-connection.ts';
import { measure, quantile } from './measure.ts';
import { type SearchKind, searchKinds } from './search-questions.ts';
import type { StopList } from './stop-list.ts';

const QUESTIONS = 400;
const WARM_UP = 100;
const SECONDS_EACH = 6;
export const CALLERS = 4;

const ms = (value: number | undefined) => (value === undefined ? '-' : value.toFixed(2)).padStart(9);

/** What a process of the database server has computed so far, in ms; where the system tells. */
function cpuMs(pid: number): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return undefined;
  }
}

/** Asks each question over one connection. The time that the server computed is free of what else the machine does; the time passed is not. */
export async function inDatabase(databaseUrl: string): Promise<Map<SearchKind, string>> {
  const db = openDatabase(databaseUrl, { max: 1, log: silentLog });
  const ctx = { db, secrets: createSecrets('x'.repeat(32)), nodeLabel: 'bench' };
  let pid = 0;
  db.pool.on('connect', (client) => {
    pid = (client as unknown as { processID: number }).processID;
  });
  const lines = new Map<SearchKind, string>();
  for (const kind of searchKinds) {
    const passed: number[] = [];
    const computed: number[] = [];
    const endMs = performance.now() + SECONDS_EACH * 1000;
    for (let turn = 0; turn < QUESTIONS && (turn < 4 || performance.now() < endMs); turn++) {
      const input = AgentSearch.parse(kind.body());
      const before = cpuMs(pid);
      const startMs = performance.now();
      await searchAgents(ctx, input);
      const tookMs = performance.now() - startMs;
      const after = cpuMs(pid);
      if (turn < Math.min(WARM_UP, QUESTIONS / 4) && performance.now() < endMs) continue;
      passed.push(tookMs);
      if (before !== undefined && after !== undefined) computed.push(after - before);
    }
    passed.sort((a, b) => a - b);
    computed.sort((a, b) => a - b);
    const both = (values: number[]) => ms(quantile(values, 0.5)) + ms(quantile(values, 0.99));
    lines.set(kind, ms(computed[0]) + both(computed) + both(passed));
  }
  await db.close();
  return lines;
}

/** Asks a node of its own on that database, from several callers at once. */
export async function throughHttp(
  databaseUrl: string,
  folder: string,
  stops: StopList,
): Promise<Map<SearchKind, string>> {
  const main = fileURLToPath(new URL('../packages/service/src/main.ts', import.meta.url));
  const dataDir = join(folder, `node-${Date.now()}`);
  const child = startNode([main], { DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn', DATABASE_URL: databaseUrl });
  stops.add(() => child.stop());
  await child.line(/is running at/);
  const { baseUrl } = JSON.parse(await readFile(join(dataDir, 'local.json'), 'utf8')) as { baseUrl: string };
  const url = new URL('/agents/search', baseUrl);
  const connections = await Promise.all(Array.from({ length: CALLERS }, () => openConnection(url)));
  const lines = new Map<SearchKind, string>();
  for (const kind of searchKinds) {
    const ask = async (caller: number) => {
      const body = kind.body();
      const answer = await connections[caller]?.send(requestText({ method: 'POST', url: url.href, headers: {}, body }));
      if (answer?.status !== 200) throw new Error(`${JSON.stringify(body)} was answered with ${answer?.body}`);
      return true;
    };
    await measure(ask, { callers: CALLERS, seconds: 1 });
    const { perSecond, p50Ms, p99Ms } = await measure(ask, { callers: CALLERS, seconds: 2 });
    lines.set(kind, ms(p50Ms) + ms(p99Ms) + perSecond.toFixed(0).padStart(8));
  }
  for (const connection of connections) connection.close();
  await child.stop();
  return lines;
}
