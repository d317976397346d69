import { randomBytes } from 'node:crypto';
import { callChain } from '@agent-network/chain/chain-rpc-client';
import { type LocalChain, startLocalChain } from '@agent-network/chain/local-chain';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { readConfig } from '../../src/config.ts';
import type { ContextParts } from '../../src/context.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { listen } from '../../src/http/listen.ts';
import { type StopStep, stopInOrder } from '../../src/lib/graceful-stop.ts';
import { createLog, silentLog } from '../../src/lib/log.ts';
import { createUsdcClient, type UsdcClient } from '../../src/payments/x402/usdc-client.ts';
import { newAccount, send, type TestAccount, type TestWallet } from '../support/harness.ts';
import { type RpcProxy, startRpcProxy } from '../support/rpc-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';
import type { TokenHost } from '../support/x402-payer.ts';
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
  /** Connections of nobody who dies. */
  readonly db: Database;
  readonly usdc: UsdcClient;
  readonly chain: LocalChain;
  readonly trouble: TroubledChain;
  readonly token: TokenHost;
  readonly owner: TestAccount;
  readonly agents: readonly ModelAgent[];
  /** A wallet that nobody had before, with WALLET_MICRO on chain; throws when all are taken. */
  takeWallet(): TestWallet;
  readonly walletsLeft: () => number;
  stop(): Promise<void>;
}

export async function startModelWorld(options: { wallets: number; database?: TestDatabase }): Promise<ModelWorld> {
  const stops: StopStep[] = [];
  const [database, chain] = await Promise.all([
    options.database ?? createTestDatabase(),
    startLocalChain({ pastStates: 64, blockTimeS: NEVER_S, idleBlockTimeS: NEVER_S }),
  ]);
  if (!options.database) stops.push({ name: 'database', stop: () => database.drop() });
  stops.push({ name: 'chain', stop: () => chain.stop() });
  const proxy = await startRpcProxy(chain.rpcUrl);
  stops.push({ name: 'proxy', stop: () => proxy.stop() });
  const db = openDatabase(database.url, { max: 12, log: silentLog });
  stops.push({ name: 'connections', stop: () => db.close() });
  const wallets = Array.from({ length: options.wallets }, () => privateKeyToAccount(generatePrivateKey()));
  const parts = await nodeParts(database.url, chain, proxy, stops);
  await chain.fund(wallets.map(({ address }) => ({ address, ethWei: 0n, usdcMicro: WALLET_MICRO })));
  await callChain(chain.rpcUrl, 'anvil_mine', FIRST_BLOCKS);
  const node = await startNodeOfProcesses({ ...parts, db, rpcUrl: chain.rpcUrl });
  stops.push({ name: 'node', stop: () => node.stop() });
  const host = {
    newAccount: () => newAccount(node.current().ctx),
    request: (...[method, path, request]: Parameters<typeof node.request>) => node.request(method, path, request),
  };
  const owner = await host.newAccount();
  const agents = await Promise.all(PRICES_MICRO.map((priceMicro) => startModelAgent(host, { owner, priceMicro })));
  stops.push({ name: 'agents', stop: () => Promise.all(agents.map((agent) => agent.die())) });
  return {
    node,
    db,
    usdc: createUsdcClient({ rpcUrl: chain.rpcUrl, token: chain.usdc.toLowerCase() }),
    chain,
    trouble: createTroubledChain(proxy, chain.rpcUrl),
    token: { ctx: { chain: node.current().ctx.chain, clock: node.clock } },
    owner,
    agents,
    takeWallet() {
      const wallet = wallets.pop();
      if (!wallet) throw new Error('all wallets of this world are taken');
      return wallet;
    },
    walletsLeft: () => wallets.length,
    stop: async () => void (await stopInOrder(stops.splice(0).reverse(), { log: silentLog })),
  };
}

async function nodeParts(databaseUrl: string, chain: LocalChain, proxy: RpcProxy, stops: StopStep[]) {
  const settlementPrivateKey = generatePrivateKey();
  const senderPrivateKeys = [generatePrivateKey()];
  const addresses = [settlementPrivateKey, ...senderPrivateKeys].map((key) => privateKeyToAccount(key).address);
  await chain.fund(addresses.map((address) => ({ address, ethWei: 1000n * ETHER, usdcMicro: 0n })));
  const { config } = readConfig({ PORT: '0', PLATFORM_FEE_BPS: String(FEE_BPS), LOG_LEVEL: 'silent' });
  const front = await listen(config, stops);
  const baseUrl = `http://${config.host}:${front.port}`;
  const parts: Omit<ContextParts, 'clock'> = {
    config,
    databaseUrl,
    chainRpcUrl: proxy.url,
    baseUrl,
    settlementPrivateKey,
    senderPrivateKeys,
    secretKey: randomBytes(32).toString('hex'),
    log: process.env.MODEL_LOG ? createLog({ level: 'debug', destination: process.stderr }) : silentLog,
    isReady: () => true,
    checksAnswers: true,
  };
  return { parts, front, send: (...[method, path, request]: SendArgs) => send(baseUrl, method, path, request) };
}

type SendArgs = [method: string, path: string, options?: Parameters<typeof send>[3]];
