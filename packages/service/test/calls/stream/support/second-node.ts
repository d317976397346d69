import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generatePrivateKey } from 'viem/accounts';
import { onTestFinished } from 'vitest';
import { readConfig } from '../../../../src/config/config.ts';
import { silentLog } from '../../../../src/lib/telemetry/log.ts';
import { type RunningNode, startNode } from '../../../../src/node.ts';
import { askDatabase } from '../../../support/books.ts';
import { BUNDLES, bundled } from '../../../support/bundled.ts';
import {
  FREE_PLAN,
  type Harness,
  type HarnessOptions,
  PATIENT,
  type RequestOptions,
  send,
  startHarness,
} from '../../../support/harness.ts';
import { NODE_CHILD } from '../../../support/node-cluster.ts';
import type { Finish } from './sse-client.ts';

/** Settings that all processes of one node share. */
const secrets = { SECRET_KEY: randomBytes(32).toString('hex'), SETTLEMENT_PRIVATE_KEY: generatePrivateKey() };

/** A harness with a node that further processes can join. */
export const startJoinableHarness = (
  env: Record<string, string> = {},
  options: Omit<HarnessOptions, 'env'> = {},
): Promise<Harness> => startHarness({ ...options, env: { ...secrets, ...env } });

const envOf = (h: Harness, dataDir: string) => ({
  ...secrets,
  ...FREE_PLAN,
  ...PATIENT,
  SEARCH_BY: 'words',
  PORT: '0',
  DATA_DIR: dataDir,
  DATABASE_URL: h.databaseUrl,
  // Many processes share one PostgreSQL.
  DATABASE_CONNECTIONS: '8',
  CHAIN_RPC_URL: h.rpcUrl,
  LOG_LEVEL: 'silent',
});

export interface JoinedNode {
  readonly baseUrl: string;
  request(method: string, path: string, options?: RequestOptions): ReturnType<typeof send>;
}

const joined = (baseUrl: string): JoinedNode => ({
  baseUrl,
  request: (method, path, options) => send(baseUrl, method, path, options),
});

/** A second process of the same node, in this one. `finish`: takes what is to be done in the end; default: when the test ends. */
export async function joinNode(
  h: Harness,
  env: Record<string, string> = {},
  { finish = onTestFinished, ...options }: Pick<HarnessOptions, 'ownClock' | 'log'> & { readonly finish?: Finish } = {},
): Promise<JoinedNode & Pick<RunningNode, 'stop' | 'ctx'>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'agent-network-second-'));
  const node = await startNode({
    ...readConfig({ ...envOf(h, dataDir), ...env }),
    log: silentLog,
    checksAnswers: true,
    ...options,
  });
  const stop = async () => {
    await node.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  finish(stop);
  return { ...joined(node.baseUrl), ctx: node.ctx, stop };
}

export interface MortalNode extends JoinedNode {
  /** Resolves when it has ended. */
  readonly ended: Promise<unknown>;
  /** SIGKILL, and the others learn of it at once instead of after its missed heartbeats. */
  kill(): Promise<void>;
}

/** A second process of the same node that can be killed. `finish`: takes what is to be done in the end; default: when the test ends. */
export async function startMortalNode(
  h: Harness,
  env: Record<string, string> = {},
  finish: Finish = onTestFinished,
): Promise<MortalNode> {
  const dataDir = await mkdtemp(join(tmpdir(), 'agent-network-mortal-'));
  const child = fork(await bundled(NODE_CHILD), {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: BUNDLES, HOME: process.env.HOME, ...envOf(h, dataDir), ...env },
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const gone = once(child, 'exit');
  finish(async () => {
    child.kill('SIGKILL');
    await gone;
    await rm(dataDir, { recursive: true, force: true });
  });
  const told = await Promise.race([once(child, 'message'), gone.then(() => null)]);
  if (!told) throw new Error('the second process ended before it was ready');
  const { baseUrl, processId } = told[0] as { baseUrl: string; processId: string };
  return {
    ...joined(baseUrl),
    ended: gone,
    async kill() {
      child.kill('SIGKILL');
      await gone;
      await askDatabase(h.databaseUrl, 'delete from process where id = $1', [processId]);
    },
  };
}
