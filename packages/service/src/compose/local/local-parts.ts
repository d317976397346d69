import { join } from 'node:path';
import { LOCAL_CHAIN_ID, payableChain } from '@agent-network/chain/addresses';
import { testUsdcAbi } from '@agent-network/chain/artifacts';
import { fundWallets, installMissingContracts, type WalletFunding } from '@agent-network/chain/chain-funding';
import { callChain, callChainBatch } from '@agent-network/chain/chain-rpc-client';
import { startLocalChain } from '@agent-network/chain/local-chain';
import { encodeFunctionData, getAddress, keccak256, numberToHex } from 'viem';
import { unreachable } from '../../chain/chain-access.ts';
import { createNodeKeys, keysOf, type NodeKeys } from '../../chain/keys/node-keys.ts';
import type { Config } from '../../config/config.ts';
import type { ConfiguredSecrets } from '../../config/keys.ts';
import { isLocalChain, localNetwork, type NetworkSettings } from '../../config/networks.ts';
import type { StopStep } from '../../lib/process/graceful-stop.ts';
import type { Log } from '../../lib/telemetry/log.ts';
import type { StartProgress } from '../../lib/telemetry/start-progress.ts';
import { type ChainRepair, payersIn, transactionsToReplay } from '../../payments/reconcile/prepare-chain.ts';
import { openDatabase, type Store } from '../../store/database.ts';
import { freePort } from './free-port.ts';
import { type LocalData, openLocalData } from './local-data.ts';
import { type LocalKeys, loadLocalKeys, saveLocalKeys, withLocalKeys } from './local-keys.ts';

type Hex = `0x${string}`;

export interface LocalPlan {
  readonly databaseUrl: string;
  readonly keys: LocalKeys;
  /** The node's own keys: configured, or of the data folder. */
  readonly nodeKeys: NodeKeys;
  /**
   * Starts the chains, unless addresses are configured; in both cases deploys the contracts and gas that this node needs. Needs the
   * migrated database: our transactions are resent to a chain that lost its newest blocks. Resolves with the address of the first.
   */
  openChain(): Promise<string>;
  /** Networks besides that of the first chain, known once the chains were started. */
  readonly furtherNetworks: () => readonly NetworkSettings[];
  /** Public address of the chain, known once it was started. */
  readonly chainRpcUrl: () => string;
  /** Repairs the losses of a local chain; null for any other chain. */
  readonly chainRepair: ChainRepair | null;
}

interface LocalPartsNeeds {
  readonly config: Config;
  readonly secrets: ConfiguredSecrets;
  readonly log: Log;
  readonly progress?: StartProgress;
  /** The data folder, if it was opened before. Default: opened here. */
  readonly localData?: LocalData;
}

const ETHER = 10n ** 18n;
const GAS_WEI = 10_000n * ETHER;
const USDC = 1_000_000n;

/** Opens DATA_DIR, and creates the database, keys and chain that are not configured. */
export async function startLocalParts(parts: LocalPartsNeeds, stops: StopStep[]): Promise<LocalPlan> {
  const { config, secrets, log } = parts;
  const { dataDir } = config;
  const { databaseUrl } = parts.localData ?? (await openLocalData(parts, stops));
  const keys = await loadLocalKeys(dataDir);
  const nodeKeys = createNodeKeys(withLocalKeys(secrets, keys, { isLocal: isLocalChain(config) }));
  const senders = keysOf(nodeKeys).map(({ address }) => getAddress(address));
  const faucet = nodeKeys.faucet && getAddress(nodeKeys.faucet.address);
  let rpcUrl = config.chainRpcUrl;
  let further = config.furtherNetworks;
  const chainParts = { dataDir, databaseUrl, keys, senders, faucet, log };
  return {
    databaseUrl,
    keys,
    nodeKeys,
    async openChain() {
      if (rpcUrl !== null) {
        if (isLocalChain(config)) await prepareJoined(rpcUrl, senders);
        if (isLocalChain(config)) await fillFaucet(firstUrl(rpcUrl), faucet);
        // A further chain that is away is tried again.
        for (const each of further.filter(({ isLocal }) => isLocal))
          await prepareJoined(each.rpcUrl, senders).catch((err) =>
            log.warn({ err }, 'a further chain cannot be prepared'),
          );
        return rpcUrl;
      }
      const ids = [LOCAL_CHAIN_ID, ...config.localChainIds];
      const [first = '', ...others] = await Promise.all(
        ids.map((chainId) => startChain({ ...chainParts, chainId }, stops)),
      );
      await saveLocalKeys(dataDir, keys);
      await fillFaucet(first, faucet);
      rpcUrl = first;
      const started = config.localChainIds.map((chainId, index) => localNetwork(chainId, others[index] ?? ''));
      const tokens = config.localTokens.map((token) => localNetwork(LOCAL_CHAIN_ID, first, token));
      for (const { token } of tokens) await giveTokens(first, token as Hex, fundingOf(keys, []));
      further = [...further, ...tokens, ...started];
      return rpcUrl;
    },
    furtherNetworks: () => further,
    chainRpcUrl: () => rpcUrl ?? '',
    chainRepair:
      config.chainRpcUrl === null || isLocalChain(config)
        ? localRepair({ token: usdcOn(LOCAL_CHAIN_ID), rpcUrl: () => rpcUrl ?? '' })
        : null,
  };
}

interface ChainParts {
  readonly chainId: number;
  readonly dataDir: string;
  readonly databaseUrl: string;
  readonly keys: LocalKeys;
  readonly senders: readonly Hex[];
  readonly faucet: Hex | null;
  readonly log: Log;
}

async function startChain(parts: ChainParts, stops: StopStep[]): Promise<string> {
  const { chainId, dataDir, databaseUrl, keys, senders, faucet, log } = parts;
  const isFirst = chainId === LOCAL_CHAIN_ID;
  const lastPort = isFirst ? keys.chainPort : keys.chainPorts?.[chainId];
  // The chain finds its first port itself: one that was found before could be taken until it listens.
  const port = lastPort === undefined ? 0 : await freePort(lastPort);
  const chain = await startLocalChain({
    dataDir: isFirst ? dataDir : join(dataDir, `chain-${chainId}`),
    port,
    chainId,
    wallets: [...fundingOf(keys, senders), ...(isFirst && faucet !== null ? [faucetFunding(faucet)] : [])],
    log: (level, message) => log[level](message),
    async transactionsToReplay(rpcUrl) {
      const db = openDatabase(databaseUrl, { max: 1, log });
      const stored = await transactionsToReplay({ db }, chainId);
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
  if (isFirst) keys.chainPort = chain.port;
  else keys.chainPorts = { ...keys.chainPorts, [chainId]: chain.port };
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

const FAUCET_LEAST = 100_000n * USDC;
const FAUCET_FILL = 1_000_000n * USDC;

const faucetFunding = (address: Hex): WalletFunding => ({ address, ethWei: 0n, usdcMicro: FAUCET_FILL });

/** Mints test USDC for the faucet when it has little left. A new chain of this node begins with it: a transaction would keep it mining. */
async function fillFaucet(rpcUrl: string, address: Hex | null): Promise<void> {
  const token = usdcOn(LOCAL_CHAIN_ID);
  if (address === null || (await balanceOf({ token, rpcUrl }, address)) >= FAUCET_LEAST) return;
  await fundWallets(rpcUrl, token, [faucetFunding(address)]);
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
async function prepareJoined(rpcUrls: string, senders: readonly Hex[]): Promise<void> {
  const rpcUrl = firstUrl(rpcUrls);
  await callChain(rpcUrl, 'eth_chainId').catch((error: unknown) => {
    throw unreachable(rpcUrl, error);
  });
  await installMissingContracts(rpcUrl);
  await giveGas(rpcUrl, senders);
}

/** Gives the wallets of this node their test money on joined chains, once. */
export async function fundOnJoinedChain(config: Config, plan: LocalPlan): Promise<void> {
  const { chainRpcUrl } = config;
  if (chainRpcUrl === null || plan.keys.isFunded || !isLocalChain(config)) return;
  const further = plan.furtherNetworks().filter(({ isLocal }) => isLocal);
  for (const each of [{ chainId: config.chainId, rpcUrl: chainRpcUrl }, ...further])
    await fundWallets(firstUrl(each.rpcUrl), tokenOf(each), fundingOf(plan.keys, []));
  plan.keys.isFunded = true;
  await saveLocalKeys(config.dataDir, plan.keys);
}

/** On a chain of this machine one address is enough: others are for providers that fail. */
const firstUrl = (rpcUrls: string): string => rpcUrls.split(' ', 1)[0] ?? '';

const usdcOn = (chainId: number): Hex => payableChain(chainId)?.usdc ?? '0x';

const tokenOf = ({ chainId, token }: Pick<NetworkSettings, 'chainId' | 'token'>): Hex =>
  (token as Hex | undefined) ?? usdcOn(chainId);

/** Gives wallets their test money in a token, unless the token has any supply already. */
async function giveTokens(rpcUrl: string, token: Hex, wallets: readonly WalletFunding[]): Promise<void> {
  const data = encodeFunctionData({ abi: testUsdcAbi, functionName: 'totalSupply' });
  if (BigInt(await callChain<Hex>(rpcUrl, 'eth_call', { to: token, data }, 'latest')) > 0n) return;
  await fundWallets(
    rpcUrl,
    token,
    wallets.map((each) => ({ ...each, ethWei: 0n })),
  );
}

/** Repairs through anvil's RPC, without mining blocks, so that replayed blocks keep their own times. */
export function localRepair({ token, rpcUrl }: { token: string; rpcUrl: () => string }): ChainRepair {
  const url = () => firstUrl(rpcUrl());
  return {
    setUsdc: async (address, micro) =>
      void (await callChain(url(), 'anvil_dealERC20', address, token, numberToHex(micro))),
    setNonce: async (address, nonce) => void (await callChain(url(), 'anvil_setNonce', address, numberToHex(nonce))),
  };
}

interface LostTransactions extends Pick<Store, 'db'> {
  readonly log: Log;
  readonly rpcUrl: string;
  /** Our transactions that were in a block. */
  readonly mined: readonly Hex[];
}

/**
 * Restores funds of payers. A chain of a version without a journal may have lost other parties' transactions together with the node's, such
 * as the one that funded a payer. Before the node's are replayed, payers get the test money that they paid with and now lack.
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
  for (const { address, token, paidMicro } of await payersIn({ db }, lost)) {
    const holdsMicro = await balanceOf({ token: token as Hex, rpcUrl }, address);
    if (holdsMicro >= paidMicro) continue;
    await localRepair({ token, rpcUrl: () => rpcUrl }).setUsdc(address, paidMicro);
    log.warn({ address, paidMicro, holdsMicro }, "local chain lost a payer's funds; replaced them with test money");
  }
}

async function balanceOf({ token, rpcUrl }: { token: Hex; rpcUrl: string }, address: string) {
  const data = encodeFunctionData({ abi: testUsdcAbi, functionName: 'balanceOf', args: [address as Hex] });
  return BigInt(await callChain<Hex>(rpcUrl, 'eth_call', { to: token, data }, 'latest'));
}
