import { setTimeout as delay } from 'node:timers/promises';
import type { ChainClock } from './journal/chain-clock.ts';
import type { ChainSequencer } from './journal/chain-sequencer.ts';

/** Periodic work on a running chain: mines leftover transactions and empty blocks, and saves the state after changes. */
export type ChainPulse = {
  /** Saves the state now. */
  save(): Promise<void>;
  /** Stops the pulse once running work is done. */
  stop(): Promise<void>;
};

export type ChainPulseOptions = {
  sequencer: ChainSequencer;
  clock: ChainClock;
  blockTimeS: number;
  idleBlockTimeS: number;
  /** null: the state is not persisted, so it is not dumped either. */
  save: (() => Promise<void>) | null;
  onError: (error: unknown) => void;
};

const TICK_MS = 200;
const ACTIVE_FOR_MS = 30_000;
const SAVE_GAP_MS = 1_000;
/** Dumping the state pauses the chain, so it may take at most a twentieth of the time. */
const SAVE_GAP_FACTOR = 20;
/** Empty blocks are in the journal and are replayed at a start: an hour of them is enough. */
const EMPTY_BLOCKS_SAVED = 240;

/**
 * Starts the pulse. While transactions come, a block is mined at least every `blockTimeS`; after 30 s without one, every
 * `idleBlockTimeS`, since anvil keeps each block in memory (3 KB). The state is saved about a second after a change, so that a start has
 * little to replay.
 */
export function startChainPulse(options: ChainPulseOptions): ChainPulse {
  const { sequencer, clock } = options;
  const stopping = new AbortController();
  let emptyBlocks = 0;
  let nextSaveAt = 0;
  let tail: Promise<unknown> = Promise.resolve();

  const save = async (): Promise<void> => {
    if (!options.save) return;
    const startedAt = Date.now();
    nextSaveAt = startedAt + SAVE_GAP_MS;
    await options.save();
    emptyBlocks = 0;
    nextSaveAt = startedAt + Math.max(SAVE_GAP_MS, SAVE_GAP_FACTOR * (Date.now() - startedAt));
  };
  const oneAtATime = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const run = tail.then(work, work);
    tail = run.catch(() => {});
    return run;
  };

  const tick = async (): Promise<void> => {
    const hasChanges = sequencer.unsavedChanges() > 0;
    const intervalS = Date.now() - sequencer.lastSentMs() < ACTIVE_FOR_MS ? options.blockTimeS : options.idleBlockTimeS;
    const isDue = () => clock.nextS() - clock.newestS() >= intervalS;
    if (hasChanges || isDue())
      await sequencer.exclusively(async (turn) => {
        await turn.mineLeftovers();
        if (!isDue()) return;
        await turn.mine();
        emptyBlocks += 1;
      });
    if ((hasChanges || emptyBlocks >= EMPTY_BLOCKS_SAVED) && Date.now() >= nextSaveAt) await save();
  };

  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await oneAtATime(tick).catch((error: unknown) => {
        if (!stopping.signal.aborted) options.onError(error);
      });
      await delay(TICK_MS, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  const looping = loop();

  return {
    save: () => oneAtATime(save),
    stop: async () => {
      stopping.abort();
      await looping;
    },
  };
}
