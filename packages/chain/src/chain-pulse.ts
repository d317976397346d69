import { setTimeout as delay } from 'node:timers/promises';
import { callChain, callChainBatch, type RpcCall } from './chain-rpc-client.ts';
import { minePending, takeSnapshot } from './chain-snapshot-client.ts';

/** The regular work on a running chain: leftovers mined, time kept moving, state saved after transactions. */
export type ChainPulse = {
  /** Runs work while the pulse rests, and one such work at a time. */
  exclusively<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Saves the state now. */
  save(): Promise<void>;
  /** Ends the pulse once what is under way is done. */
  stop(): Promise<void>;
};

export type ChainPulseOptions = {
  rpcUrl: string;
  blockTimeS: number;
  idleBlockTimeS: number;
  /** The newest block whose state is saved already. */
  savedBlock: number;
  /** null: nobody keeps the state, so it is not taken either. */
  write: ((state: Buffer) => Promise<void>) | null;
  onError: (error: unknown) => void;
};

const TICK_MS = 200;
const ACTIVE_FOR_MS = 30_000;
const SAVE_GAP_MS = 1_000;
/** Saving rests mining, so it may take a twentieth of the time at most. */
const SAVE_GAP_FACTOR = 20;
const MAX_COUNTED_BLOCKS = 100;

/**
 * Starts the pulse. While transactions come, a block is mined at least every `blockTimeS`; after 30 s without one, every
 * `idleBlockTimeS`, since anvil keeps each block in memory (3 KB). A transaction is on disk about a second after it was mined.
 */
export function startChainPulse(options: ChainPulseOptions): ChainPulse {
  const { rpcUrl } = options;
  const stopping = new AbortController();
  let tail: Promise<unknown> = Promise.resolve();
  let seenBlock = options.savedBlock;
  let activeAt = 0;
  let unsaved = false;
  let nextSaveAt = 0;

  const exclusively = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const run = tail.then(work, work);
    tail = run.catch(() => {});
    return run;
  };

  const save = async (): Promise<void> => {
    if (!options.write) return;
    const startedAt = Date.now();
    nextSaveAt = startedAt + SAVE_GAP_MS;
    await options.write(await takeSnapshot(rpcUrl));
    unsaved = false;
    nextSaveAt = startedAt + Math.max(SAVE_GAP_MS, SAVE_GAP_FACTOR * (Date.now() - startedAt));
  };

  const tick = async (): Promise<void> => {
    const latest = await minePending(rpcUrl);
    if (await anyTransactions(rpcUrl, seenBlock + 1, latest)) {
      unsaved = true;
      activeAt = Date.now();
    }
    seenBlock = latest;
    const active = Date.now() - activeAt < ACTIVE_FOR_MS;
    await mineWhenDue(rpcUrl, active ? options.blockTimeS : options.idleBlockTimeS);
    if (unsaved && Date.now() >= nextSaveAt) await save();
  };

  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await exclusively(tick).catch((error: unknown) => {
        if (!stopping.signal.aborted) options.onError(error);
      });
      await delay(TICK_MS, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  const looping = loop();

  return {
    exclusively,
    save: () => exclusively(save),
    stop: async () => {
      stopping.abort();
      await looping;
    },
  };
}

async function anyTransactions(rpcUrl: string, first: number, last: number): Promise<boolean> {
  if (last < first) return false;
  if (last - first >= MAX_COUNTED_BLOCKS) return true;
  const calls = Array.from(
    { length: last - first + 1 },
    (_, index): RpcCall => ['eth_getBlockTransactionCountByNumber', `0x${(first + index).toString(16)}`],
  );
  const counts = await callChainBatch(rpcUrl, calls);
  return counts.some((count) => count !== '0x0');
}

async function mineWhenDue(rpcUrl: string, intervalS: number): Promise<void> {
  const latest = await callChain<{ timestamp: string }>(rpcUrl, 'eth_getBlockByNumber', 'latest', false);
  if (Math.floor(Date.now() / 1000) - Number(latest.timestamp) >= intervalS) await callChain(rpcUrl, 'evm_mine');
}
