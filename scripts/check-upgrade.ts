import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { checkOut, removeCheckOut } from './check-out.ts';

/**
 * npm run check:upgrade [-- COMMIT]: starts a node of that commit, runs its examples, stops it, opens its data folder with the code here, and
 * compares the answers: balances, statements, payments, requests, events and agents. Exits 1 when the code here answers anything else.
 */
/** The oldest commit with data folders that this code opens: its schema is the baseline. */
const OLDEST_COMMIT = '7e95b59a';
const EXAMPLES = ['pay-with-x402-fetch', 'pay-as-v1-client', 'invoke-async', 'stream-an-answer', 'run-your-own-agent'];
const START_WITHIN_MS = 120_000;
/**
 * Fields that the data folder does not decide: of agents, health checks, the scores that are computed from them, the addresses that the
 * code serves, and when the code last gave its examples their types; of balances, the calls of the hour.
 */
const CHANGING = {
  '/agents/': new Set([
    ...['lastSeen', 'reputation', 'uptime', 'status', 'online', 'avgResponseTime'],
    ...['interfaces', 'updatedAt'],
  ]),
  '/payments/balance': new Set(['callsLeft']),
};

const repository = realpathSync(join(import.meta.dirname, '..'));
const root = mkdtempSync(join(tmpdir(), 'upgrade-'));
const [old, dataDir] = [join(root, 'old'), join(root, 'data')];

type Json = Record<string, unknown>;

interface LocalFile {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly agents: readonly { readonly id: string }[];
}

interface Node {
  readonly local: LocalFile;
  stop(): Promise<void>;
}

async function startNode(folder: string): Promise<Node> {
  const child = spawn(process.execPath, [join(folder, 'packages/service/src/main.ts')], {
    cwd: folder,
    env: { ...process.env, PORT: '0', DATA_DIR: dataDir, NODE_LABEL: 'kept' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await welcomeOf(child);
  const local = JSON.parse(readFileSync(join(dataDir, 'local.json'), 'utf8')) as LocalFile;
  return {
    local,
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

function welcomeOf(child: ChildProcess): Promise<void> {
  let output = '';
  return new Promise((resolve, reject) => {
    const fail = () => reject(new Error(`the node did not start:\n${output}`));
    const timer = setTimeout(() => child.kill('SIGKILL'), START_WITHIN_MS);
    child.once('exit', fail);
    child.stdout?.on('data', (part: Buffer) => {
      output += part.toString();
      if (!output.includes('is running at')) return;
      clearTimeout(timer);
      child.off('exit', fail);
      resolve();
    });
  });
}

function runExamples(folder: string, names: readonly string[]): void {
  for (const name of names)
    execFileSync(process.execPath, [join(folder, 'examples', `${name}.ts`)], {
      cwd: folder,
      env: { ...process.env, DATA_DIR: dataDir },
      stdio: 'inherit',
    });
}

/** Answers of the API by path, each without its envelope. */
async function readAnswers({ local }: Node): Promise<Map<string, Json>> {
  const answers = new Map<string, Json>();
  const read = async (path: string): Promise<Json> => {
    const response = await fetch(local.baseUrl + path, { headers: { authorization: `Bearer ${local.apiKey}` } });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`);
    // Each start has a port of its own.
    const { data } = JSON.parse(text.replaceAll(local.baseUrl, 'http://node')) as { data: Json };
    answers.set(path, data);
    return data;
  };
  const { treasuries } = (await read('/payments/balance')) as { treasuries: { treasuryId: string }[] };
  for (const { treasuryId } of treasuries) await read(`/payments/treasury/${treasuryId}/statement?limit=100`);
  const { requests } = (await read('/invoke/history?limit=100')) as { requests: { requestId: string }[] };
  for (const { requestId } of requests) await read(`/invoke/${requestId}`);
  for (const path of ['/payments/history?limit=100', '/events?limit=100', '/account/webhooks']) await read(path);
  for (const { id } of local.agents) await read(`/agents/${id}`);
  return answers;
}

/** The answers once two readings in a row agree: nothing of the examples is still on its way. */
async function readAtRest(node: Node): Promise<Map<string, Json>> {
  let last = await readAnswers(node);
  for (;;) {
    await sleep(2000);
    const next = await readAnswers(node);
    if ([...last].every(([path, data]) => differences(data, next.get(path), path).length === 0)) return next;
    last = next;
  }
}

/** Paths at which `after` lacks a value of `before` or has another; new fields are no difference. */
function differences(before: unknown, after: unknown, at: string): string[] {
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
    return before.flatMap((each, index) => differences(each, after[index], `${at}[${index}]`));
  if (!isObject(before) || !isObject(after)) return isDeepStrictEqual(before, after) ? [] : [at];
  const changing = Object.entries(CHANGING).find(([path]) => at.startsWith(path))?.[1];
  const names = Object.keys(before).filter((name) => !changing?.has(name));
  return names.flatMap((name) => differences(before[name], after[name], `${at} ${name}`));
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

async function checkUpgrade(commit: string): Promise<boolean> {
  checkOut(repository, old, commit);
  const first = await startNode(old);
  runExamples(old, EXAMPLES);
  const before = await readAtRest(first).finally(() => first.stop());
  const second = await startNode(repository);
  try {
    const after = await readAnswers(second);
    const found = [...before].flatMap(([path, data]) => differences(data, after.get(path), path));
    for (const each of found) console.error(`differs: ${each}`);
    console.log(`${before.size} answers of ${commit}, ${found.length} differences`);
    runExamples(repository, ['pay-with-x402-fetch', 'invoke-async']);
    return found.length === 0;
  } finally {
    await second.stop();
  }
}

const [commit = OLDEST_COMMIT] = process.argv.slice(2);
try {
  if (!(await checkUpgrade(commit))) process.exitCode = 1;
} finally {
  removeCheckOut(repository, old);
  rmSync(root, { recursive: true, force: true });
}
