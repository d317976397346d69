import type { ChainIndex } from '@agent-network/contracts/network';
import type { HasDb } from '../../db/database.ts';
import type { HasClock } from '../../lib/clock.ts';
import type { HasMetrics } from '../../lib/metrics.ts';
import { lagOf, readingState } from './reading-state.ts';
import type { HasRegistry } from './registry-info.ts';
import { findReading } from './registry-reading-store.ts';

type IndexContext = HasDb & HasClock & HasRegistry;

/** How far the node has read the shared registry, as of now. */
export async function readChainIndex(ctx: IndexContext): Promise<ChainIndex> {
  const { chainId, address, startBlock } = ctx.registry;
  const reading = await findReading(ctx.db, chainId);
  const block = reading?.block ?? startBlock - 1n;
  const headBlock = reading?.headBlock ?? 0n;
  const lagBlocks = lagOf(headBlock, block);
  const sinceGoodMs = reading === null ? 0 : ctx.clock.now().getTime() - reading.goodAt.getTime();
  return {
    chainId,
    registry: address,
    state: reading === null ? 'syncing' : readingState({ lagBlocks, sinceGoodMs }),
    block: Number(block < 0n ? 0n : block),
    headBlock: Number(headBlock),
    lagBlocks: Number(lagBlocks),
  };
}

/** Tells in this process's metrics how far the node has read. */
export async function watchChainIndex(ctx: IndexContext & HasMetrics): Promise<void> {
  const { block, lagBlocks } = await readChainIndex(ctx);
  ctx.metrics.registryBlock.set(block);
  ctx.metrics.registryLagBlocks.set(lagBlocks);
}
