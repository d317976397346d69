import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LocalChain, startLocalChain } from '@agent-network/chain/local-chain';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { createUsdcClient } from '../../src/chain/usdc-client.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLog } from '../../src/lib/telemetry/log.ts';
import { openDatabase } from '../../src/store/database.ts';
import { BUNDLES, bundled } from './bundled.ts';
import { type Harness, newAccount, newWallet, PATIENT, send } from './harness.ts';
import { type RpcProxy, startRpcProxy } from './rpc-proxy.ts';
import { SMALLEST } from './smallest-amounts.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';
import { startWatch } from './watch.ts';
import type { TokenHost } from './x402-payer.ts';

export interface NodeProcess {
  readonly baseUrl: string;
  readonly child: ChildProcess;
  /** Id of its row among the processes of the node. */
  readonly processId: string;
  /** Resolves when it has ended, with the signal that ended it. */
  readonly ended: Promise<NodeJS.Signals | null>;
  /** Ends it at once, as a power cut does. */
  kill(): Promise<void>;
  /** Asks it to end; answers how long that took by startWatch. */
  terminate(): Promise<number>;
}

/** Processes of one node: one database, one chain, which both outlive them. */
export interface NodeCluster extends Pick<Harness, 'newAccount' | 'newWallet' | 'usdcOf' | 'databaseUrl'>, TokenHost {
  readonly chain: LocalChain;
  readonly proxy: RpcProxy;
  readonly walletAddress: string;
  /** `child`: the program of another version of the code. */
  startProcess(env?: NodeJS.ProcessEnv, child?: string): Promise<NodeProcess>;
  stop(): Promise<void>;
}

/** Chain and database when a cluster is not to make, and so not to end, its own. */
export interface ClusterParts {
  readonly chain?: LocalChain;
  readonly database?: TestDatabase;
  /** Destination of the processes' stderr; default: inherit. */
  readonly stderr?: 'inherit' | 'ignore';
}

/** A service process, to be forked by its bundle. */
export const NODE_CHILD = join(import.meta.dirname, 'node-child.ts');

export async function startCluster(given: ClusterParts = {}): Promise<NodeCluster> {
  const [database, chain] = await Promise.all([
    given.database ?? createTestDatabase(),
    given.chain ?? startLocalChain({ pastStates: 64 }),
  ]);
  const proxy = await startRpcProxy(chain.rpcUrl);
  const settlementKey = generatePrivateKey();
  const walletAddress = privateKeyToAddress(settlementKey).toLowerCase();
  await chain.fund([{ address: privateKeyToAddress(settlementKey), ethWei: 10n ** 19n, usdcMicro: 0n }]);
  const db = openDatabase(database.url, { max: 2, log: silentLog });
  const usdc = createUsdcClient({ rpcUrl: chain.rpcUrl, token: chain.usdc.toLowerCase() });
  const { name, version } = await usdc.readToken();
  // Also of those that are still starting.
  const children: ChildProcess[] = [];
  const folders: string[] = [];
  const env = {
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: BUNDLES,
    ...SMALLEST,
    ...PATIENT,
    SEARCH_BY: 'words',
    PORT: '0',
    DATABASE_URL: database.url,
    // Many clusters share one PostgreSQL.
    DATABASE_CONNECTIONS: '5',
    CHAIN_RPC_URL: proxy.url,
    SETTLEMENT_PRIVATE_KEY: settlementKey,
    // Places to die at are those of payments, unless a test says otherwise.
    REGISTRAR_PRIVATE_KEY: '',
    REGISTRY_POLL_MS: '2000',
    SECRET_KEY: 'the same for all processes of a node',
  };
  return {
    chain,
    proxy,
    walletAddress,
    databaseUrl: database.url,
    ctx: { chain: { tokenName: name, tokenVersion: version, chainId: chain.chainId, token: chain.usdc.toLowerCase() } },
    newAccount: (options) => newAccount({ db, clock: systemClock, keyMode: 'test' }, options),
    newWallet: (micro = 1_000_000_000n) => newWallet(chain.rpcUrl, chain.usdc, micro),
    usdcOf: (address) => usdc.balanceOf(address),
    async startProcess(more, program) {
      const dataDir = await mkdtemp(join(tmpdir(), 'agent-network-process-'));
      folders.push(dataDir);
      const child = await forkNode(program, { ...env, DATA_DIR: dataDir, ...more }, given.stderr);
      children.push(child);
      return startedNode(child);
    },
    async stop() {
      await Promise.all(children.map(endProcess));
      await db.close();
      await proxy.stop();
      if (!given.chain) await chain.stop();
      if (!given.database) await database.drop();
      for (const folder of folders) await rm(folder, { recursive: true, force: true });
    },
  };
}

const forkNode = async (
  program: string | undefined,
  env: NodeJS.ProcessEnv,
  stderr: 'inherit' | 'ignore' = 'inherit',
): Promise<ChildProcess> =>
  fork(program ?? (await bundled(NODE_CHILD)), {
    env,
    // Not vitest's own: they load what a service does not need.
    execArgv: [],
    stdio: ['ignore', 'inherit', stderr, 'ipc'],
  });

async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

async function startedNode(child: ChildProcess): Promise<NodeProcess> {
  const exited = once(child, 'exit');
  const ended = exited.then(([, signal]) => signal as NodeJS.Signals | null);
  const first = await Promise.race([once(child, 'message'), exited]);
  const [message] = first as [{ baseUrl: string; processId: string } | number];
  if (typeof message !== 'object' || message === null) throw new Error(`the service process ended with ${message}`);
  return {
    baseUrl: message.baseUrl,
    processId: message.processId,
    child,
    ended,
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    async terminate() {
      const tookMs = startWatch();
      child.kill('SIGTERM');
      await exited;
      return tookMs();
    },
  };
}

/** The cluster as one of its processes serves it: what test agents and payers talk to. */
export const at = (cluster: NodeCluster, { baseUrl }: NodeProcess): NodeCluster & Pick<Harness, 'request'> => ({
  ...cluster,
  request: (method, path, options) => send(baseUrl, method, path, options),
});
