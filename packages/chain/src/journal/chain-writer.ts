import type { ChainClock } from './chain-clock.ts';
import type { ChainJournal, JournalRecord } from './chain-journal-store.ts';
import { kindOf, ownName } from './chain-methods.ts';
import type { ChainUpstream, UpstreamAnswer } from './chain-upstream.ts';

export type WriteCall = { method: string; params: readonly unknown[] };

/** Operations for a holder of exclusive access to the chain. */
export type Turn = {
  /** Mines one block. */
  mine(): Promise<void>;
  /** Mines pending transactions, unless callers have turned automining off. */
  mineLeftovers(): Promise<void>;
  /** Reports that the state has been dumped. */
  taken(): void;
};

export type WriterParts = {
  upstream: ChainUpstream;
  journal: ChainJournal | null;
  clock: ChainClock;
  /** Called after blocks were reverted or the state was replaced, before anyone else may change the chain. */
  onRewritten: (turn: Turn) => Promise<void>;
};

/** Makes the calls that change the chain, each once it is in the journal. Not concurrent: the caller serializes. */
export type ChainWriter = {
  /** Transactions and settings, in this order, with one journal write; the transactions share a block. */
  makeTogether(calls: readonly WriteCall[]): Promise<UpstreamAnswer[]>;
  /** Any other call that is not a read. */
  makeOne(call: WriteCall): Promise<UpstreamAnswer>;
  turn: Turn;
  unsavedChanges(): number;
  lastSentMs(): number;
};

export function createChainWriter({ upstream, journal, clock, onRewritten }: WriterParts): ChainWriter {
  let automine = true;
  let changes = 0;
  let lastSentMs = 0;

  const record = async (records: readonly JournalRecord[]) => {
    changes += 1;
    await journal?.append(records, { sync: true });
  };
  const ask = async <Result>(method: string, ...params: unknown[]): Promise<Result> => {
    const { result, error } = await upstream.call(method, params);
    if (error) throw new Error(`${method}: ${error.message}`);
    return result as Result;
  };
  const { mine, mineBlocks } = createMining({ upstream, journal, clock }, record);
  const turn: Turn = {
    mine,
    async mineLeftovers() {
      const { pending } = await ask<{ pending: string }>('txpool_status');
      if (automine && Number(pending) > 0) await mine();
    },
    taken: () => {
      changes = 0;
    },
  };

  const setAutomine = async (isOn: boolean): Promise<UpstreamAnswer> => {
    automine = isOn;
    await turn.mineLeftovers();
    return { result: null };
  };

  return {
    turn,
    unsavedChanges: () => changes,
    lastSentMs: () => lastSentMs,
    async makeTogether(calls) {
      const atS = clock.nextS();
      await record(calls.map((call) => ({ ...call, atS })));
      const answers: UpstreamAnswer[] = [];
      for (const { method, params } of calls) answers.push(await upstream.call(method, params));
      const isSent = calls.some(({ method }, index) => kindOf(method) === 'send' && !answers[index]?.error);
      if (isSent) lastSentMs = Date.now();
      if (isSent && automine) await mine(atS);
      return answers;
    },
    async makeOne({ method, params }) {
      const [kind, name] = [kindOf(method), ownName(method)];
      if (kind === 'mine') return mineBlocks({ method, params });
      if (name === 'getAutomine') return { result: automine };
      if (name === 'setAutomine') return setAutomine(params[0] === true);
      const answer = await upstream.call(method, params);
      if (answer.error) return answer;
      if (kind === 'time') clock.moved(name, params);
      if (kind === 'rewrite') {
        const { timestamp } = await ask<{ timestamp: string }>('eth_getBlockByNumber', 'latest', false);
        clock.mined(Number(timestamp));
        await onRewritten(turn);
      }
      return answer;
    },
  };
}

const INVALID_PARAMS = -32602;

/** Mines blocks at times that are in the journal before. `record` writes records to disk. */
function createMining(
  { upstream, journal, clock }: Omit<WriterParts, 'onRewritten'>,
  record: (records: readonly JournalRecord[]) => Promise<void>,
) {
  const mineAt = async (atS: number) => {
    await upstream.mine(atS);
    clock.mined(atS);
  };
  return {
    /** Mines a block. Its record need not be on disk: without it the transactions are still replayed, at the time recorded with them. */
    async mine(atS = clock.nextS()): Promise<void> {
      await journal?.append([{ method: 'evm_mine', params: [], atS }], { sync: false });
      await mineAt(atS);
    },
    /** Answers a caller's request for blocks. */
    async mineBlocks({ method, params }: WriteCall): Promise<UpstreamAnswer> {
      const asked = blocksAsked(method, params);
      if (typeof asked === 'string') return { error: { code: INVALID_PARAMS, message: asked } };
      if (asked.atS !== undefined) clock.moved('setTime', [asked.atS]);
      const firstS = clock.nextS();
      const times = Array.from({ length: asked.blocks }, (_, index) => firstS + index * asked.intervalS);
      await record(times.map((atS) => ({ method: 'evm_mine', params: [], atS })));
      for (const atS of times) await mineAt(atS);
      return { result: method === 'evm_mine' ? '0x0' : null };
    },
  };
}

type MineRequest = {
  blocks: number;
  intervalS: number;
  atS?: number | undefined;
};

const MAX_BLOCKS = 10_000;

/**
 * Parses the parameters of `evm_mine` ([], [time] or [{ timestamp, blocks }]) and of `anvil_mine` ([blocks?, seconds between them?]).
 * Returns a text when they are invalid.
 */
function blocksAsked(method: string, params: readonly unknown[]): MineRequest | string {
  const [first, second] = params;
  if (typeof first === 'object' && first !== null) {
    const { blocks = 1, timestamp } = first as { blocks?: unknown; timestamp?: unknown };
    return checked({ blocks: Number(blocks), intervalS: 0, atS: optional(timestamp) });
  }
  if (method === 'evm_mine') return checked({ blocks: 1, intervalS: 0, atS: optional(first) });
  return checked({ blocks: optional(first) ?? 1, intervalS: optional(second) ?? 0 });
}

const optional = (value: unknown): number | undefined =>
  value === undefined || value === null ? undefined : Number(value);

function checked(request: MineRequest): MineRequest | string {
  const { blocks, intervalS, atS = 0 } = request;
  if (![blocks, intervalS, atS].every((value) => Number.isSafeInteger(value) && value >= 0))
    return 'blocks, interval and time are whole numbers';
  return blocks <= MAX_BLOCKS ? request : `at most ${MAX_BLOCKS} blocks at once`;
}
