import { randomBytes } from 'node:crypto';
import { callChain } from '@agent-network/chain/chain-rpc-client';
import { type LocalChain, startLocalChain } from '@agent-network/chain/local-chain';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { createNodeKeys } from '../../../src/chain/keys/node-keys.ts';
import { createUsdcClient, type UsdcClient } from '../../../src/chain/usdc-client.ts';
import { readConfig } from '../../../src/config/config.ts';
import { listen } from '../../../src/http/admission/listen.ts';
import { type StopStep, stopInOrder } from '../../../src/lib/process/graceful-stop.ts';
import { type Log, silentLog } from '../../../src/lib/telemetry/log.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { createPrimaryGate } from '../../../src/store/primary/primary-gate.ts';
import { newAccount, PATIENT, type TestAccount, type TestWallet } from '../../support/harness.ts';
import { startRpcProxy } from '../../support/rpc-proxy.ts';
import { SMALLEST } from '../../support/smallest-amounts.ts';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts';
import type { TokenHost } from '../../support/x402-payer.ts';
import { type ModelAgent, startModelAgent } from './model-agent.ts';
import { type NodeOfProcesses, startNodeOfProcesses } from './node-of-processes.ts';
import { createTroubledChain, type TroubledChain } from './troubled-chain.ts';

export const PRICES_MICRO = [50_000n, 13_000n] as const;
export const WALLET_MICRO = 1_000_000n;
export const FEE_BPS = 250n;
const ETHER = 10n ** 18n;
/** Blocks come with transactions, and not by the clock. */
const NEVER_S = 1_000_000;
/** Blocks before the first run, so that no reorg takes back what wallets were given. */
const FIRST_BLOCKS = '0x20';

/** One node on a real database and a real chain, for many runs; each run brings accounts and wallets of its own. */
export interface ModelWorld {
  readonly node: NodeOfProcesses;
  /** Connections of a process that never dies. */
  readonly db: Database;
  readonly usdc: UsdcClient;
  readonly chain: LocalChain;
  readonly trouble: TroubledChain;
  readonly token: TokenHost;
  readonly owner: TestAccount;
  readonly agents: readonly ModelAgent[];
  /** A fresh wallet with WALLET_MICRO on chain; throws when all are taken. */
  takeWallet(): TestWallet;
  readonly walletsLeft: () => number;
  stop(): Promise<void>;
}

export interface WorldOptions {
  readonly wallets: number;
  /** An empty one of the present schema, which whoever gave it removes; default: one of the test run. */
  readonly database?: TestDatabase | undefined;
  readonly log?: Log | undefined;
}

export async function startModelWorld(options: WorldOptions): Promise<ModelWorld> {
  const stops: StopStep[] = [];
  const stop = async () => void (await stopInOrder(stops.splice(0).reverse(), { log: silentLog }));
  try {
    return { ...(await start(options, stops)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(options: WorldOptions, stops: StopStep[]): Promise<Omit<ModelWorld, 'stop'>> {
  const database = options.database ?? (await createTestDatabase());
  if (!options.database) stops.push({ name: 'database', stop: () => database.drop() });
  const chain = await startLocalChain({ pastStates: 64, blockTimeS: NEVER_S, idleBlockTimeS: NEVER_S });
  stops.push({ name: 'chain', stop: () => chain.stop() });
  const proxy = await startRpcProxy(chain.rpcUrl);
  stops.push({ name: 'proxy', stop: () => proxy.stop() });
  const db = openDatabase(database.url, { max: 12, log: silentLog });
  stops.push({ name: 'connections', stop: () => db.close() });
  const keys = await nodeKeys(chain);
  const wallets = await fundedWallets(chain, options.wallets);
  const front = await listen(config, stops);
  const parts = {
    ...keys,
    config,
    databaseUrl: database.url,
    gate: createPrimaryGate({ url: database.url, log: silentLog }),
    chainRpcUrl: proxy.url,
    baseUrl: `http://${config.host}:${front.port}`,
    log: options.log ?? silentLog,
    isReady: () => true,
    checksAnswers: true,
  };
  const node = await startNodeOfProcesses({ parts, front, db, rpcUrl: chain.rpcUrl });
  stops.push({ name: 'node', stop: () => node.stop() });
  const { owner, agents } = await startAgents(node, stops);
  return {
    ...{ node, db, chain, owner, agents },
    usdc: createUsdcClient({ rpcUrl: chain.rpcUrl, token: chain.usdc.toLowerCase() }),
    trouble: createTroubledChain(proxy, chain.rpcUrl),
    token: { ctx: { chain: node.current().ctx.chain, clock: node.clock } },
    takeWallet() {
      const wallet = wallets.pop();
      if (!wallet) throw new Error('all wallets of this world are taken');
      return wallet;
    },
    walletsLeft: () => wallets.length,
  };
}

const { config } = readConfig({
  ...SMALLEST,
  ...PATIENT,
  SEARCH_BY: 'words',
  PORT: '0',
  PLATFORM_FEE_BPS: String(FEE_BPS),
  LOG_LEVEL: 'silent',
});

async function fundedWallets(chain: LocalChain, count: number): Promise<TestWallet[]> {
  const wallets = Array.from({ length: count }, () => privateKeyToAccount(generatePrivateKey()));
  await chain.fund(wallets.map(({ address }) => ({ address, ethWei: 0n, usdcMicro: WALLET_MICRO })));
  await callChain(chain.rpcUrl, 'anvil_mine', FIRST_BLOCKS);
  return wallets;
}

/** Two keys send, so that a payment need not wait for another. */
async function nodeKeys(chain: LocalChain) {
  const settlementPrivateKey = generatePrivateKey();
  const senderPrivateKeys = [generatePrivateKey()];
  const addresses = [settlementPrivateKey, ...senderPrivateKeys].map((key) => privateKeyToAccount(key).address);
  await chain.fund(addresses.map((address) => ({ address, ethWei: 1000n * ETHER, usdcMicro: 0n })));
  const secretKey = randomBytes(32).toString('hex');
  const others = { registrarPrivateKey: null, faucetPrivateKey: null, secretKeys: [secretKey] };
  const keys = createNodeKeys({ settlementPrivateKey, senderPrivateKeys, ...others });
  return { keys, localWallet: null };
}

async function startAgents(node: NodeOfProcesses, stops: StopStep[]) {
  const host = { request: node.request, newAccount: () => newAccount(node.current().ctx) };
  const owner = await host.newAccount();
  const agents = await Promise.all(PRICES_MICRO.map((priceMicro) => startModelAgent(host, { owner, priceMicro })));
  stops.push({ name: 'agents', stop: () => Promise.all(agents.map((agent) => agent.die())) });
  return { owner, agents };
}
