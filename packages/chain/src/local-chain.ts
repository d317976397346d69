import { join } from 'node:path';
import type { Address } from 'viem';
import { LOCAL_CHAIN_ID, MULTICALL3_ADDRESS, usdcByChain } from './addresses.ts';
import { type AnvilProcess, startAnvil } from './anvil-process.ts';
import { fundWallets, installContracts, type WalletFunding } from './chain-funding.ts';
import { type ChainLock, lockChainFolder } from './chain-lock.ts';
import { type ChainPulse, startChainPulse } from './chain-pulse.ts';
import { callChain } from './chain-rpc-client.ts';
import { type ChainStateStore, openChainStateStore } from './chain-state-store.ts';
import { findAnvil } from './find-anvil.ts';
import { LocalChainError } from './local-chain-error.ts';
import { type ReplayOutcome, type ReplayTransaction, replayTransactions } from './replay-transactions.ts';
import { trimChainState } from './trim-chain-state.ts';

export type LocalChainOptions = {
  /** Where the chain's state lives, in the subfolder `chain`; without it the chain is gone after `stop`. */
  dataDir?: string | undefined;
  /** Default: a free one. */
  port?: number | undefined;
  /** Given ETH and test USDC once, when the chain is new. */
  wallets?: readonly WalletFunding[] | undefined;
  /** Transactions of ours that a reloaded chain may lack; asked for before it mines anything at the present time. A new chain with any is refused. */
  transactionsToReplay?: (() => Promise<readonly ReplayTransaction[]>) | undefined;
  /** Longest time between blocks while transactions come (default 1), and while none come (default 15). */
  blockTimeS?: number | undefined;
  idleBlockTimeS?: number | undefined;
  /** How many past blocks' states stay (default 8): a call at `latest` may come to be answered when the next block is there, and a reorg goes no deeper. */
  pastStates?: number | undefined;
  log?: ((level: 'info' | 'warn' | 'error', message: string) => void) | undefined;
  now?: (() => Date) | undefined;
};

export type LocalChain = {
  rpcUrl: string;
  port: number;
  chainId: typeof LOCAL_CHAIN_ID;
  usdc: Address;
  multicall3: Address;
  /** The process group of anvil and its watchdog. */
  processGroup: number;
  /** False when a saved state was loaded. */
  isNew: boolean;
  replayed: readonly ReplayOutcome[];
  /** Resolves when anvil is gone, asked or not. */
  ended: Promise<void>;
  fund(wallets: readonly WalletFunding[]): Promise<void>;
  /** As `transactionsToReplay`, on a running chain: it has mined at the present time, so closed windows stay closed. */
  replayTransactions(transactions: readonly ReplayTransaction[]): Promise<readonly ReplayOutcome[]>;
  saveState(): Promise<void>;
  stop(): Promise<void>;
};

/**
 * Starts anvil with test USDC, Multicall3 and the ERC-8004 registries where clients expect them, from the saved state if there is one. State is
 * saved about a second after each transaction and on `stop`; anvil ends with this process, however that ends.
 * Throws `LocalChainError`; it never replaces a state that it cannot read by an empty chain.
 */
export async function startLocalChain(options: LocalChainOptions = {}): Promise<LocalChain> {
  const folder = options.dataDir === undefined ? undefined : join(options.dataDir, 'chain');
  const lock = folder === undefined ? undefined : await lockChainFolder(folder);
  let anvil: AnvilProcess | undefined;
  try {
    const store =
      folder === undefined ? undefined : await openChainStateStore(folder, options.now ?? (() => new Date()));
    const binary = findAnvil();
    const saved = store?.existed() ? store : undefined;
    anvil = await (saved ? startSaved(binary, saved, options) : startAnvil(binary, historyArgs(options), options.port));
    await lock?.noteAnvil(anvil.pid, anvil.rpcUrl);
    return await bringUp({ anvil, isNew: !saved, options, lock, store });
  } catch (error) {
    await anvil?.stop();
    await lock?.release();
    throw error;
  }
}

const historyArgs = ({ pastStates = 8 }: LocalChainOptions): string[] => ['--prune-history', String(pastStates)];

type Parts = {
  anvil: AnvilProcess;
  isNew: boolean;
  options: LocalChainOptions;
  lock: ChainLock | undefined;
  store: ChainStateStore | undefined;
};

async function bringUp({ anvil, isNew, options, lock, store }: Parts): Promise<LocalChain> {
  const { rpcUrl } = anvil;
  const usdc = usdcByChain[LOCAL_CHAIN_ID];
  await installContracts(rpcUrl, usdc);
  const known = (await options.transactionsToReplay?.()) ?? [];
  if (isNew && known.length > 0) throw stateMissing(options, known.length);
  if (isNew) await fundWallets(rpcUrl, usdc, options.wallets ?? []);
  const replayed = isNew ? [] : await replayTransactions(rpcUrl, known);
  const pulse = await startPulse(anvil, store, options);
  if (store) await pulse.save();
  return {
    rpcUrl,
    port: anvil.port,
    chainId: LOCAL_CHAIN_ID,
    usdc,
    multicall3: MULTICALL3_ADDRESS,
    processGroup: anvil.pid,
    isNew,
    replayed,
    ended: anvil.ended,
    fund: (wallets) => pulse.exclusively(() => fundWallets(rpcUrl, usdc, wallets)),
    replayTransactions: (transactions) => pulse.exclusively(() => replayTransactions(rpcUrl, transactions)),
    saveState: () => pulse.save(),
    stop: once(async () => {
      await pulse.stop();
      const saved = store ? pulse.save() : Promise.resolve();
      await saved.catch((error: unknown) => options.log?.('error', `the chain's last state is not saved: ${error}`));
      await anvil.stop();
      await lock?.release();
    }),
  };
}

/** A chain that starts empty would take those transactions in again as if nothing had been lost. */
function stateMissing({ dataDir }: LocalChainOptions, count: number): LocalChainError {
  return new LocalChainError(
    'STATE_MISSING',
    `The database knows ${count} transactions of the local chain, but ${dataDir}/chain holds no state of it: it was lost or ` +
      'removed. Restore that folder. To give up its balances and start over, remove the whole data directory. Nothing was changed.',
  );
}

async function startPulse(
  anvil: AnvilProcess,
  store: ChainStateStore | undefined,
  { blockTimeS = 1, idleBlockTimeS = 15, log }: LocalChainOptions,
): Promise<ChainPulse> {
  let gone = false;
  const pulse = startChainPulse({
    rpcUrl: anvil.rpcUrl,
    blockTimeS,
    idleBlockTimeS,
    savedBlock: Number(await callChain(anvil.rpcUrl, 'eth_blockNumber')),
    write: store ? (state) => store.save(state) : null,
    onError: (error) => {
      if (!gone) log?.('warn', `the local chain did not answer or could not be saved: ${error}`);
    },
  });
  void anvil.ended.then(() => {
    gone = true;
    return pulse.stop();
  });
  return pulse;
}

async function startSaved(binary: string, store: ChainStateStore, options: LocalChainOptions): Promise<AnvilProcess> {
  const failures: string[] = [];
  for (const file of store.generations()) {
    try {
      const loadable = await store.writeLoadable(trimChainState(await store.read(file)));
      const anvil = await startAnvil(binary, [...historyArgs(options), '--load-state', loadable], options.port);
      if (failures.length > 0) options.log?.('warn', `chain state: ${failures.join('; ')}; loaded ${file} instead`);
      return anvil;
    } catch (error) {
      failures.push(`${file} cannot be loaded (${error instanceof Error ? error.message : error})`);
    } finally {
      await store.removeLoadable();
    }
  }
  throw new LocalChainError(
    'STATE_UNREADABLE',
    `A local chain was saved in ${options.dataDir}/chain, but it cannot be read: ${failures.join('; ') || 'its state files are gone'}. ` +
      'Restore state.json.gz from a copy. To give up its balances and start over, remove the whole data directory.',
  );
}

function once<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let result: Promise<Result> | undefined;
  return () => {
    result ??= work();
    return result;
  };
}
