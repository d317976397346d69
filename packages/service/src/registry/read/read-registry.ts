import { type ChainPoint, newestCanonical, requireSame } from '../../chain/blocks/chain-point.ts';
import type { NodeIdentity } from '../../chain/chain-info.ts';
import { minOf } from '../../lib/bigints.ts';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import type { Store } from '../../store/database.ts';
import { fetchRange } from './fetch-range.ts';
import { type RunObservation, recordReading } from './record-reading.ts';
import { LogsRefused, type RegistryAccess } from './registry-log-client.ts';
import { listPoints, newestPoint } from './registry-point-store.ts';
import { takeBackTo, writeRange } from './write-range.ts';

type ReadContext = Store & Telemetry & RegistryAccess & Pick<NodeIdentity, 'chain'> & { readonly nodeLabel: string };

/** Syncs the shared registry into the database. */
export interface RegistryReader {
  /**
   * Reads up to the head, or for about two seconds. A block is stored as a whole or not at all, even if the process dies. True if nothing
   * is left to read.
   */
  read(): Promise<boolean>;
}

/** Time limit of a catch-up run, so that the process can stop; the next run follows at once. */
const READS_FOR_MS = 2000;

export function createRegistryReader(ctx: ReadContext, readsForMs: number = READS_FOR_MS): RegistryReader {
  const { chainId, startBlock } = ctx.registry;
  let window = firstWindow;
  let isFailing = false;

  /** Reads one range, or detects a reorg. Returns the new point; null when there is none. */
  async function readRange(after: ChainPoint | null, head: ChainPoint): Promise<ChainPoint | null> {
    const range = await fetchRange(ctx, { after, headBlock: head.block, maxBlocks: window.blocks }).catch((error) => {
      const isRefused = error instanceof LogsRefused;
      window = afterRefusal(window, isRefused ? error.blocks : window.blocks);
      if (!isRefused || error.blocks === 1n) throw error;
      return 'refused' as const;
    });
    if (range === 'refused') return readRange(after, head);
    const end = range?.points.at(-1);
    if (!range || !end || !(await writeRange(ctx, after, range))) return null;
    window = afterAnswer(window, range.logs.length, end.block - range.fromBlock + 1n);
    return end;
  }

  /** `isGood`: it made progress, or there was nothing to read. */
  async function readTo(head: ChainPoint): Promise<{ isGood: boolean; isAtHead: boolean }> {
    const endMs = performance.now() + readsForMs;
    let after = await newestPoint(ctx.db, chainId);
    if (after === null && head.block < startBlock) return { isGood: true, isAtHead: true };
    let gotOn = false;
    while (after?.block !== head.block || after.hash !== head.hash) {
      if (performance.now() > endMs) return { isGood: gotOn, isAtHead: false };
      const isAhead = after !== null && after.block >= head.block;
      const next: ChainPoint | null = isAhead ? null : await readRange(after, head);
      if (next === null && !(await goBack(ctx, after, head))) return { isGood: gotOn, isAtHead: false };
      gotOn = true;
      after = next ?? (await newestPoint(ctx.db, chainId));
    }
    return { isGood: true, isAtHead: true };
  }

  return {
    async read() {
      let seen: RunObservation | null = null;
      let isAtHead = false;
      try {
        const { head, safeBlock } = await ctx.registryClient.head();
        seen = { headBlock: head.block, safeBlock, isGood: false };
        const run = await readTo(head);
        seen = { ...seen, isGood: run.isGood };
        isAtHead = run.isAtHead;
        isFailing = false;
      } catch (err) {
        if (!isFailing) ctx.log.warn({ err }, 'cannot read the shared registry; retrying');
        isFailing = true;
      }
      await recordReading(ctx, seen);
      return isAtHead;
    },
  };
}

/**
 * Removes blocks that the chain no longer has. Returns false when the chain has all of them: the reported head is only behind, or another
 * process reads as well. Throws when the chain lacks a block that it should have, or is another one.
 */
async function goBack(ctx: ReadContext, newest: ChainPoint | null, head: ChainPoint): Promise<boolean> {
  const [first, ...older] = await listPoints(ctx.db, ctx.registry.chainId, head.block);
  if (newest === null || first === undefined) return false;
  const canonical = await newestCanonical([first, ...older], async (height) => {
    const [block] = await ctx.registryClient.blocksAt([height]);
    if (!block && !ctx.registry.isLocal) throw new Error(`the chain does not know block ${height} below its head`);
    return block?.hash ?? null;
  });
  if (canonical === first) return false;
  requireSame(ctx.registry.chainId, await ctx.registryClient.chainId());
  return takeBackTo(ctx, newest, canonical);
}

/** Number of blocks covered by one log query. */
export interface ReadWindow {
  readonly blocks: bigint;
  /** Limit up to which the window doubles; above it, where a query was refused, it grows slowly. */
  readonly doublesUpTo: bigint;
}

const MAX_BLOCKS = 100_000n;
/** Answers with fewer logs grow the window, answers with more shrink it. */
const FEW_LOGS = 2500;
const MANY_LOGS = 10_000;

export const firstWindow: ReadWindow = { blocks: 2000n, doublesUpTo: MAX_BLOCKS };

/** The window after an answer with this many logs for this many blocks. */
export function afterAnswer(window: ReadWindow, logs: number, blocks: bigint): ReadWindow {
  if (logs > MANY_LOGS) return { ...window, blocks: half(window.blocks) };
  const isFull = blocks >= window.blocks;
  return isFull && logs < FEW_LOGS ? { ...window, blocks: minOf(grown(window), MAX_BLOCKS) } : window;
}

const grown = ({ blocks, doublesUpTo }: ReadWindow): bigint =>
  blocks < doublesUpTo ? minOf(blocks * 2n, doublesUpTo) : blocks + blocks / 16n + 1n;

/** The window after a refused query over this many blocks (default: the whole window). */
export function afterRefusal(window: ReadWindow, asked: bigint = window.blocks): ReadWindow {
  const blocks = half(minOf(asked, window.blocks));
  return { blocks, doublesUpTo: blocks };
}

const half = (blocks: bigint): bigint => (blocks > 1n ? blocks / 2n : 1n);
