import { mkdir } from 'node:fs/promises';
import { LOCAL_CHAIN_ID, usdcByChain } from '@agent-network/chain/addresses';
import { testUsdcAbi } from '@agent-network/chain/artifacts';
import { fundWallets, installMissingContracts, type WalletFunding } from '@agent-network/chain/chain-funding';
import { callChain, callChainBatch } from '@agent-network/chain/chain-rpc-client';
import { startLocalChain } from '@agent-network/chain/local-chain';
import { encodeFunctionData, getAddress, keccak256, numberToHex } from 'viem';
import { createNodeKeys, keysOf, type NodeKeys } from '../chain/keys/node-keys.ts';
import { unreachable } from '../chain/unreachable.ts';
import { type Config, isLocalChain } from '../config.ts';
import type { ConfiguredSecrets } from '../config-keys.ts';
import { lockDataDir } from '../db/data-dir-lock.ts';
import { type HasDb, openDatabase } from '../db/database.ts';
import { startEmbeddedPostgres } from '../db/embedded-postgres.ts';
import type { Log } from '../lib/log/log.ts';
import type { StopStep } from '../lib/process/graceful-stop.ts';
import type { ChainRepair } from '../payments/reconcile/chain-repair.ts';
import { payersIn, transactionsToReplay } from '../payments/reconcile/replay.ts';
import { freePort } from './free-port.ts';
import { type LocalKeys, loadLocalKeys, saveLocalKeys, withLocalKeys } from './local-keys.ts';

type Hex = `0x${string}`;

export interface LocalPlan {
  readonly databaseUrl: string;
  readonly keys: LocalKeys;
  /** The node's own keys: configured, or of the data folder. */
  readonly nodeKeys: NodeKeys;
  /**
   * Starts the chain, unless its address is configured; in both cases deploys the contracts and gas that this node needs. Needs the
   * migrated database: our transactions are resent to a chain that lost its newest blocks.
   */
  openChain(): Promise<string>;
  /** Public address of the chain, known once it was started. */
  readonly chainRpcUrl: () => string;
  /** Repairs the losses of a local chain; null for any other chain. */
  readonly chainRepair: ChainRepair | null;
}

interface Parts {
  readonly config: Config;
  readonly secrets: ConfiguredSecrets;
  readonly log: Log;
}

const ETHER = 10n ** 18n;
const GAS_WEI = 10_000n * ETHER;
const USDC = 1_000_000n;

/** Locks DATA_DIR, and creates the database, keys and chain that are not configured. */
export async function startLocalParts({ config, secrets, log }: Parts, stops: StopStep[]): Promise<LocalPlan> {
  const { dataDir } = config;
  await mkdir(dataDir, { recursive: true });
  const lock = await lockDataDir(dataDir);
  stops.push({ name: 'data folder', stop: () => lock.release() });
  const keys = await loadLocalKeys(dataDir);
  const databaseUrl = config.databaseUrl ?? (await startDatabase(dataDir, log, stops));
  const nodeKeys = createNodeKeys(withLocalKeys(secrets, keys));
  const senders = keysOf(nodeKeys).map(({ address }) => getAddress(address));
  let rpcUrl = config.chainRpcUrl;
  return {
    databaseUrl,
    keys,
    nodeKeys,
    async openChain() {
      if (rpcUrl === null) rpcUrl = await startChain({ dataDir, databaseUrl, keys, senders, log }, stops);
      else if (isLocalChain(config)) await prepareJoined(rpcUrl, senders);
      return rpcUrl;
    },
    chainRpcUrl: () => rpcUrl ?? '',
    chainRepair: config.chainRpcUrl === null || isLocalChain(config) ? repairOf(() => rpcUrl ?? '') : null,
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
  const { dataDir, databaseUrl, keys, senders, log } = parts;
  const port = await freePort(keys.chainPort ?? 0);
  const chain = await startLocalChain({
    dataDir,
    port,
    wallets: fundingOf(keys, senders),
    log: (level, message) => log[level](message),
    async transactionsToReplay(rpcUrl) {
      const db = openDatabase(databaseUrl, { max: 1, log });
      const stored = await transactionsToReplay({ db }, LOCAL_CHAIN_ID);
      const mined = stored.filter(({ minedAtS }) => minedAtS !== null).map(({ raw }) => raw as Hex);
      await fundLostPayers({ db, log, rpcUrl, mined });
      await db.close();
      return stored.map(({ raw, minedAtS }) => ({
        raw: raw as Hex,
        ...(minedAtS === null ? {} : { minedAtS: Number(minedAtS) }),
      }));
    },
  });
  stops.push({ name: 'chain', stop: () => chain.stop() });
  keys.chainPort = port;
  await saveLocalKeys(dataDir, keys);
  if (!chain.isNew && (await giveGas(chain.rpcUrl, senders))) await chain.saveState();
  const again = chain.replayed.filter(({ outcome }) => outcome !== 'known').length;
  if (again > 0) log.warn({ transactions: again }, 'local chain lost its newest blocks; resent our transactions');
  return chain.rpcUrl;
}

/**
 * Refills sending keys that are low on gas: a chain that an earlier version started does not know all of them. Returns true if there were
 * any.
 */
async function giveGas(rpcUrl: string, senders: readonly Hex[]): Promise<boolean> {
  const balances = await Promise.all(
    senders.map((address) => callChain<Hex>(rpcUrl, 'eth_getBalance', address, 'latest')),
  );
  const poor = senders.filter((_, index) => BigInt(balances[index] ?? 0) < ETHER);
  for (const address of poor) await callChain(rpcUrl, 'anvil_setBalance', address, numberToHex(GAS_WEI));
  return poor.length > 0;
}

const gasOf = (address: Hex): WalletFunding => ({ address, ethWei: GAS_WEI, usdcMicro: 0n });

const fundingOf = (keys: LocalKeys, senders: readonly Hex[]): WalletFunding[] => [
  ...senders.map(gasOf),
  ...[keys.account, keys.free, keys.pro, ...keys.wallets].map(({ address }) => ({
    address,
    ethWei: 10n * ETHER,
    usdcMicro: 1000n * USDC,
  })),
];

/** Prepares a chain that another node started: its contracts, and gas for this node's keys. */
async function prepareJoined(rpcUrl: string, senders: readonly Hex[]): Promise<void> {
  await callChain(rpcUrl, 'eth_chainId').catch((error: unknown) => {
    throw unreachable(rpcUrl, error);
  });
  await installMissingContracts(rpcUrl);
  await giveGas(rpcUrl, senders);
}

/** Gives the wallets of this node their test money on a joined chain, once. */
export async function fundOnJoinedChain(config: Config, plan: LocalPlan): Promise<void> {
  const { chainRpcUrl } = config;
  if (chainRpcUrl === null || plan.keys.isFunded || !isLocalChain(config)) return;
  await fundWallets(chainRpcUrl, usdcByChain[config.chainId], fundingOf(plan.keys, []));
  plan.keys.isFunded = true;
  await saveLocalKeys(config.dataDir, plan.keys);
}

const USDC_ADDRESS = usdcByChain[LOCAL_CHAIN_ID];

/** Repairs through anvil's RPC, without mining blocks, so that replayed blocks keep their own times. */
const repairOf = (rpcUrl: () => string): ChainRepair => ({
  setUsdc: async (address, micro) =>
    void (await callChain(rpcUrl(), 'anvil_dealERC20', address, USDC_ADDRESS, numberToHex(micro))),
  setNonce: async (address, nonce) => void (await callChain(rpcUrl(), 'anvil_setNonce', address, numberToHex(nonce))),
});

interface LostTransactions extends HasDb {
  readonly log: Log;
  readonly rpcUrl: string;
  /** Our transactions that were in a block. */
  readonly mined: readonly Hex[];
}

/**
 * Restores funds of payers. A chain of a version without a journal may have lost other parties' transactions together with ours, such as
 * the one that funded a payer. Before ours are replayed, payers get the test money that they paid with and lack.
 */
async function fundLostPayers({ db, log, rpcUrl, mined }: LostTransactions): Promise<void> {
  if (mined.length === 0) return;
  const hashes = mined.map((raw) => keccak256(raw));
  const receipts = await callChainBatch(
    rpcUrl,
    hashes.map((hash) => ['eth_getTransactionReceipt', hash] as const),
  );
  const lost = hashes.filter((_, index) => receipts[index] === null);
  if (lost.length === 0) return;
  const repair = repairOf(() => rpcUrl);
  for (const { address, paidMicro } of await payersIn({ db }, lost)) {
    const holdsMicro = await usdcOf(rpcUrl, address);
    if (holdsMicro >= paidMicro) continue;
    await repair.setUsdc(address, paidMicro);
    log.warn({ address, paidMicro, holdsMicro }, "local chain lost a payer's funds; replaced them with test money");
  }
}

async function usdcOf(rpcUrl: string, address: string): Promise<bigint> {
  const data = encodeFunctionData({ abi: testUsdcAbi, functionName: 'balanceOf', args: [address as Hex] });
  return BigInt(await callChain<Hex>(rpcUrl, 'eth_call', { to: USDC_ADDRESS, data }, 'latest'));
}
