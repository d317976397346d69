import { callChain } from '../chain-rpc-client.ts';
import type { ChainStateStore } from '../chain-state-store.ts';
import type { ChainJournal } from './chain-journal-store.ts';
import type { ChainSequencer } from './chain-sequencer.ts';
import type { Turn } from './chain-writer.ts';

/** Saves the chain's whole state and deletes the part of the journal that no saved state needs. */
export type ChainSaver = {
  save(): Promise<void>;
  /**
   * Saves the state after blocks were reverted, for a caller with exclusive access. It writes a full state, as a journal can't revert
   * blocks.
   */
  saveRewritten(turn: Turn): Promise<void>;
};

export type SaverParts = {
  /** anvil's own address. */
  rpcUrl: string;
  store: ChainStateStore;
  journal: ChainJournal;
  sequencer: ChainSequencer;
};

/**
 * Creates the saver. The state is dumped while nothing changes the chain, and a new journal segment begins at that moment. Whenever the
 * process dies, the newest intact state on disk and the segments after it make up the whole chain.
 */
export function createChainSaver({ rpcUrl, store, journal, sequencer }: SaverParts): ChainSaver {
  let lastWrite: Promise<void> = Promise.resolve();

  const take = async (turn: Turn): Promise<{ state: Buffer; segment: number }> => {
    // Mines a separate block: its hash identifies this state and no other.
    await turn.mine();
    const { hash } = await callChain<{ hash: string }>(rpcUrl, 'eth_getBlockByNumber', 'latest', false);
    turn.taken();
    const segment = await journal.goOnFrom(hash);
    const hex = await callChain<string>(rpcUrl, 'anvil_dumpState');
    return { state: Buffer.from(hex.slice(2), 'hex'), segment };
  };
  /** Writes states in the order in which they were dumped. */
  const write = ({ state, segment }: { state: Buffer; segment: number }, all: boolean): Promise<void> => {
    const written = lastWrite
      .catch(() => {})
      .then(() => store.save(state))
      .then(() => journal.forgetBefore(segment, { all }));
    lastWrite = written;
    return written;
  };

  return {
    async save() {
      let written = lastWrite;
      await sequencer.exclusively(async (turn) => {
        written = write(await take(turn), false);
        written.catch(() => {});
      });
      await written;
    },
    saveRewritten: async (turn) => write(await take(turn), true),
  };
}
