import { mkdir } from 'node:fs/promises';
import { LOCAL_CHAIN_ID, usdcByChain } from '@agent-network/chain/addresses';
import { fundWallets, installMissingRegistries, type WalletFunding } from '@agent-network/chain/chain-funding';
import { callChain } from '@agent-network/chain/chain-rpc-client';
import { type LocalChain, startLocalChain } from '@agent-network/chain/local-chain';
import { privateKeyToAddress } from 'viem/accounts';
import { type Config, type ConfiguredSecrets, isLocalChain } from '../config.ts';
import { lockDataDir } from '../db/data-dir-lock.ts';
import { openDatabase } from '../db/database.ts';
import { startEmbeddedPostgres } from '../db/embedded-postgres.ts';
import type { StopStep } from '../lib/graceful-stop.ts';
import type { Log } from '../lib/log.ts';
import { transactionsToReplay } from '../payments/x402/replay.ts';
import { type LocalKeys, loadLocalKeys, saveLocalKeys, senderKeysOf } from './local-keys.ts';

type Hex = `0x${string}`;

export interface LocalPlan {
  readonly databaseUrl: string;
  readonly keys: LocalKeys;
  /** Keys that send beside the node's wallet; none when that is configured, as its operator configures them as well. */
  readonly senderPrivateKeys: readonly Hex[];
  /** Needs the migrated database: a chain that lost its newest blocks is shown our transactions again. */
  startChain(): Promise<string>;
  /** The chain's address for others; known once it was started. */
  readonly chainRpcUrl: () => string;
}

interface Parts {
  readonly config: Config;
  readonly secrets: ConfiguredSecrets;
  readonly log: Log;
}

const ETHER = 10n ** 18n;
const USDC = 1_000_000n;

/** Takes DATA_DIR, and makes of database, keys and chain what the configuration does not name. */
export async function startLocalParts({ config, secrets, log }: Parts, stops: StopStep[]): Promise<LocalPlan> {
  const { dataDir } = config;
  await mkdir(dataDir, { recursive: true });
  const lock = await lockDataDir(dataDir);
  stops.push({ name: 'data folder', stop: () => lock.release() });
  const keys = await loadLocalKeys(dataDir);
  const databaseUrl = config.databaseUrl ?? (await startDatabase(dataDir, log, stops));
  const settlementKey = secrets.settlementPrivateKey ?? keys.settlementPrivateKey;
  const senderPrivateKeys = secrets.settlementPrivateKey ? [] : senderKeysOf(keys);
  let rpcUrl = config.chainRpcUrl;
  return {
    databaseUrl,
    keys,
    senderPrivateKeys,
    async startChain() {
      const senders = [settlementKey, ...(secrets.senderPrivateKeys ?? senderPrivateKeys)];
      rpcUrl = await startChain({ dataDir, databaseUrl, keys, senders, log }, stops);
      return rpcUrl;
    },
    chainRpcUrl: () => rpcUrl ?? '',
  };
}

async function startDatabase(dataDir: string, log: Log, stops: StopStep[]): Promise<string> {
  const postgres = await startEmbeddedPostgres({ dataDir, log });
  stops.push({ name: 'PostgreSQL', stop: () => postgres.stop() });
  return postgres.url;
}

interface ChainParts {
  readonly dataDir: string;
  readonly databaseUrl: string;
  readonly keys: LocalKeys;
  readonly senders: readonly Hex[];
  readonly log: Log;
}

async function startChain(parts: ChainParts, stops: StopStep[]): Promise<string> {
  const { dataDir, databaseUrl, keys, log } = parts;
  const senders = parts.senders.map((key) => privateKeyToAddress(key));
  const chain = await startLocalChain({
    dataDir,
    wallets: fundingOf(keys, senders),
    log: (level, message) => log[level](message),
    async transactionsToReplay() {
      const db = openDatabase(databaseUrl, { max: 1, log });
      const stored = await transactionsToReplay({ db }, LOCAL_CHAIN_ID);
      await db.close();
      return stored.map(({ raw, minedAtS }) => ({
        raw: raw as Hex,
        ...(minedAtS === null ? {} : { minedAtS: Number(minedAtS) }),
      }));
    },
  });
  stops.push({ name: 'chain', stop: () => chain.stop() });
  if (!chain.isNew) await fundSenders(chain, senders);
  const again = chain.replayed.filter(({ outcome }) => outcome !== 'known').length;
  if (again > 0) log.warn({ transactions: again }, 'the chain had lost its newest blocks; sent our transactions again');
  return chain.rpcUrl;
}

/** A chain that an earlier version started does not know all keys that send. */
async function fundSenders(chain: LocalChain, senders: readonly Hex[]): Promise<void> {
  const balances = await Promise.all(
    senders.map((address) => callChain<Hex>(chain.rpcUrl, 'eth_getBalance', address, 'latest')),
  );
  const poor = senders.filter((_, index) => BigInt(balances[index] ?? 0) < ETHER);
  if (poor.length === 0) return;
  await chain.fund(poor.map(gasOf));
  await chain.saveState();
}

const gasOf = (address: Hex): WalletFunding => ({ address, ethWei: 10_000n * ETHER, usdcMicro: 0n });

const fundingOf = (keys: LocalKeys, senders: readonly Hex[]): WalletFunding[] => [
  ...senders.map(gasOf),
  ...[keys.account, keys.free, keys.pro, ...keys.wallets].map(({ address }) => ({
    address,
    ethWei: 10n * ETHER,
    usdcMicro: 1000n * USDC,
  })),
];

/** Has on a local chain that another node started what `startChain` has: the registries, and test money, once. */
export async function prepareJoinedChain(config: Config, plan: LocalPlan, senders: readonly Hex[]): Promise<void> {
  const { chainRpcUrl } = config;
  if (chainRpcUrl === null || !isLocalChain(config)) return;
  await installMissingRegistries(chainRpcUrl);
  if (plan.keys.isFunded) return;
  await fundWallets(chainRpcUrl, usdcByChain[config.chainId], fundingOf(plan.keys, senders));
  plan.keys.isFunded = true;
  await saveLocalKeys(config.dataDir, plan.keys);
}
