import { join } from 'node:path';
import type { Address } from 'viem';
import { LOCAL_CHAIN_ID, MULTICALL3_ADDRESS, payableChain } from './addresses.ts';
import { type AnvilProcess, startAnvil } from './anvil-process.ts';
import { fundOnNewChain, fundWallets, installContracts, type WalletFunding } from './chain-funding.ts';
import { type ChainLock, lockChainFolder } from './chain-lock.ts';
import { type ChainPulse, startChainPulse } from './chain-pulse.ts';
import { callChain } from './chain-rpc-client.ts';
import { type ChainStateStore, openChainStateStore } from './chain-state-store.ts';
import { findAnvil } from './find-anvil.ts';
import { type ChainClock, createChainClock } from './journal/chain-clock.ts';
import { type ChainFront, listenAsChain } from './journal/chain-front.ts';
import { type ChainJournal, openChainJournal } from './journal/chain-journal-store.ts';
import { type ChainSaver, createChainSaver } from './journal/chain-saver.ts';
import { type ChainSequencer, createChainSequencer } from './journal/chain-sequencer.ts';
import { openChainUpstream } from './journal/chain-upstream.ts';
import { replayJournal } from './journal/replay-journal.ts';
import { LocalChainError } from './local-chain-error.ts';
import { type ReplayOutcome, type ReplayTransaction, replayTransactions } from './replay-transactions.ts';

export type LocalChainOptions = {
  /** Folder with a subfolder `chain` for the chain's state; without it the chain is gone after `stop`. */
  dataDir?: string | undefined;
  /** Default: any free port. */
  port?: number | undefined;
  /** Default: that of Base Sepolia. */
  chainId?: number | undefined;
  /** Wallets funded with ETH and test USDC once, when the chain is new. */
  wallets?: readonly WalletFunding[] | undefined;
  /**
   * Returns the node's transactions that a reloaded chain may lack. Called with the chain's own address before anything is mined at the
   * present time, so that replaying restores their original times. A new chain with any such transaction is refused.
   */
  transactionsToReplay?: ((rpcUrl: string) => Promise<readonly ReplayTransaction[]>) | undefined;
  /** Maximum time between blocks while transactions arrive (default 1), and while none do (default 15). */
  blockTimeS?: number | undefined;
  idleBlockTimeS?: number | undefined;
  /**
   * Number of past blocks to keep the states of (default 8): a call at `latest` may run after the next block, and a reorg can't go deeper.
   */
  pastStates?: number | undefined;
  log?: ((level: 'info' | 'warn' | 'error', message: string) => void) | undefined;
  now?: (() => Date) | undefined;
};

export type LocalChain = {
  rpcUrl: string;
  port: number;
  chainId: number;
  usdc: Address;
  multicall3: Address;
  /** Process group of anvil and its watchdog. */
  processGroup: number;
  /** False when a saved state was loaded. */
  isNew: boolean;
  replayed: readonly ReplayOutcome[];
  /** Resolves when anvil has ended, requested or not. */
  ended: Promise<void>;
  fund(wallets: readonly WalletFunding[]): Promise<void>;
  /** Replays transactions on a running chain. It has mined at the present time, so expired windows stay expired. */
  replayTransactions(transactions: readonly ReplayTransaction[]): Promise<readonly ReplayOutcome[]>;
  saveState(): Promise<void>;
  stop(): Promise<void>;
};

/**
 * Starts anvil with test USDC, Multicall3 and the ERC-8004 registries at the addresses that clients expect, from the saved state if there
 * is one, and replays the journal since. Every change is in the journal on disk before anvil has it; the state is saved about a second
 * after it and on `stop`. anvil ends with this process, however that ends. Throws `LocalChainError`; never replaces an unreadable state by
 * an empty chain.
 */
export async function startLocalChain(options: LocalChainOptions = {}): Promise<LocalChain> {
  const folder = options.dataDir === undefined ? undefined : join(options.dataDir, 'chain');
  const lock = folder === undefined ? undefined : await lockChainFolder(folder);
  let front: ChainFront | undefined;
  let anvil: AnvilProcess | undefined;
  try {
    front = await listenAsChain(options.port ?? 0);
    const disk = folder === undefined ? undefined : await openDisk(folder, options);
    const binary = findAnvil();
    const saved = disk?.store.existed() ? disk.store : undefined;
    anvil = await (saved
      ? startSaved(binary, saved, options)
      : startAnvil(binary, chainArgs(options), { chainId: options.chainId }));
    await lock?.recordAnvil(anvil.pid, front.rpcUrl);
    return await bringUp({ anvil, front, isNew: !saved, options, lock, disk });
  } catch (error) {
    await front?.close();
    await anvil?.stop();
    await lock?.release();
    throw error;
  }
}

/** anvil's arguments. It mines only when the sequencer asks. */
const chainArgs = ({ pastStates = 8 }: LocalChainOptions): string[] => [
  ...['--no-mining', '--prune-history', String(pastStates)],
];

type Disk = { store: ChainStateStore; journal: ChainJournal };

async function openDisk(folder: string, { now = () => new Date() }: LocalChainOptions): Promise<Disk> {
  const store = await openChainStateStore(folder, now);
  return { store, journal: await openChainJournal(folder) };
}

type Parts = {
  anvil: AnvilProcess;
  front: ChainFront;
  isNew: boolean;
  options: LocalChainOptions;
  lock: ChainLock | undefined;
  disk: Disk | undefined;
};

async function bringUp(parts: Parts): Promise<LocalChain> {
  const { anvil, front, isNew, options, lock, disk } = parts;
  const chainId = options.chainId ?? LOCAL_CHAIN_ID;
  const usdc = payableChain(chainId)?.usdc;
  if (usdc === undefined) throw new LocalChainError('ANVIL_FAILED', `chain ${chainId} has no USDC`);
  const replayed = await restore(parts, usdc);
  const clock = createChainClock();
  const { timestamp } = await callChain<{ timestamp: string }>(anvil.rpcUrl, 'eth_getBlockByNumber', 'latest', false);
  clock.mined(Number(timestamp));
  const upstream = openChainUpstream(anvil.port);
  const sequencer: ChainSequencer = createChainSequencer({
    upstream,
    journal: disk?.journal ?? null,
    clock,
    onRewritten: async (turn) => saver?.saveRewritten(turn),
  });
  const saver = disk && createChainSaver({ rpcUrl: anvil.rpcUrl, sequencer, ...disk });
  const pulse = startPulse({ anvil, sequencer, clock, saver }, options);
  await pulse.save();
  front.open({ upstream, sequencer });
  void anvil.ended.then(() => front.close());
  return {
    rpcUrl: front.rpcUrl,
    port: front.port,
    chainId,
    usdc,
    multicall3: MULTICALL3_ADDRESS,
    processGroup: anvil.pid,
    isNew,
    replayed,
    ended: anvil.ended,
    fund: (wallets) => fundWallets(front.rpcUrl, usdc, wallets),
    async replayTransactions(transactions) {
      const outcomes = await sequencer.exclusively(async () => replayTransactions(anvil.rpcUrl, transactions));
      await pulse.save();
      return outcomes;
    },
    saveState: () => pulse.save(),
    stop: once(async () => {
      await pulse.stop();
      await front.close();
      await pulse
        .save()
        .catch((error: unknown) => options.log?.('error', `the chain's last state could not be saved: ${error}`));
      await disk?.journal.close();
      upstream.close();
      await anvil.stop();
      await lock?.release();
    }),
  };
}

/** Restores the chain: contracts, the journal since the loaded state, and the caller's further transactions. */
async function restore({ anvil, isNew, options, disk }: Parts, usdc: Address): Promise<readonly ReplayOutcome[]> {
  const { rpcUrl } = anvil;
  const { hash } = await callChain<{ hash: string }>(rpcUrl, 'eth_getBlockByNumber', 'latest', false);
  await installContracts(rpcUrl, usdc);
  if (!isNew && disk) {
    const { records, problems } = await disk.journal.since(hash);
    for (const problem of problems) options.log?.('warn', `the chain's journal: ${problem}`);
    const { calls, blocks } = await replayJournal(rpcUrl, records);
    if (calls > 0)
      options.log?.(
        'info',
        `the chain was not saved at its last stop: replayed ${calls} calls of its journal in ${blocks} blocks`,
      );
  }
  const known = (await options.transactionsToReplay?.(rpcUrl)) ?? [];
  if (isNew && known.length > 0) throw stateMissing(options, known.length);
  if (isNew) await fundOnNewChain(rpcUrl, usdc, options.wallets ?? []);
  return isNew ? [] : replayTransactions(rpcUrl, known);
}

/** Refuses to start empty: an empty chain would accept those transactions again as if nothing had been lost. */
function stateMissing({ dataDir }: LocalChainOptions, count: number): LocalChainError {
  return new LocalChainError(
    'STATE_MISSING',
    `The database knows ${count} transactions of the local chain, but ${dataDir}/chain holds no state of it: it was lost or ` +
      'removed. Restore that folder. To give up its balances and start over, remove the whole data directory. Nothing was changed.',
  );
}

type PulseParts = {
  anvil: AnvilProcess;
  sequencer: ChainSequencer;
  clock: ChainClock;
  saver: ChainSaver | undefined;
};

function startPulse(
  { anvil, saver, ...chain }: PulseParts,
  { blockTimeS = 1, idleBlockTimeS = 15, log }: LocalChainOptions,
): ChainPulse {
  let gone = false;
  const pulse = startChainPulse({
    ...chain,
    blockTimeS,
    idleBlockTimeS,
    save: saver ? () => saver.save() : null,
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
      const anvil = await startAnvil(binary, [...chainArgs(options), '--load-state', loadable], {
        chainId: options.chainId,
      });
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

const KEPT_BLOCKS = 256;
const KEPT_TRANSACTIONS = 20_000;

type DumpedState = {
  best_block_number: number;
  blocks: { header: { number: string }; transactions: unknown[] }[];
  transactions: { block_number: number }[];
};

/**
 * Drops old empty blocks, and all but the newest transactions, from anvil's dumped state, so that a chain which ran for weeks starts small.
 * Balances and nonces are untouched. Keeps the first block, the newest 256, and every block with a kept transaction. Returns text unchanged
 * when JavaScript cannot represent it exactly (integers of 16 digits and more).
 */
export function trimChainState(
  text: string,
  limits = { blocks: KEPT_BLOCKS, transactions: KEPT_TRANSACTIONS },
): string {
  if (/[:,[]\d{16}/.test(text)) return text;
  const state = JSON.parse(text) as DumpedState;
  if (state.blocks.length <= limits.blocks) return text;
  const transactions = state.transactions
    .toSorted((a, b) => a.block_number - b.block_number)
    .slice(-limits.transactions);
  const firstKeptNumber = transactions[0]?.block_number ?? 0;
  const numbers = new Set(transactions.map((transaction) => transaction.block_number));
  const blocks = state.blocks.filter(({ header }) => {
    const number = Number(header.number);
    return number === 0 || number > state.best_block_number - limits.blocks || numbers.has(number);
  });
  for (const block of blocks) if (Number(block.header.number) < firstKeptNumber) block.transactions = [];
  return JSON.stringify({ ...state, blocks, transactions });
}
