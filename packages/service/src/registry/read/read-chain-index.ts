import type { ChainIndex } from '@agent-network/contracts/network/network';
import { measureGates, readGates } from '../../chain/blocks/gates.ts';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import type { Store } from '../../store/database.ts';
import { isStalled, lagOf, type ReadingState } from './reading-state.ts';
import { findReading, type Reading } from './registry-reading-store.ts';
import type { RegistryIndex } from './registry-tokens.ts';

type IndexContext = Store & Pick<RegistryIndex, 'registry'>;

/** Current sync state of the shared registry's index. */
export async function readChainIndex(ctx: IndexContext): Promise<ChainIndex> {
  const { chainId, address, startBlock } = ctx.registry;
  const reading = await findReading(ctx.db, chainId);
  const block = reading?.block ?? startBlock - 1n;
  const lagBlocks = lagOf(reading?.headBlock ?? 0n, block);
  const known = Number(block < 0n ? 0n : block);
  const gates = await readGates(ctx, ctx.registry);
  return {
    chainId,
    registry: address,
    state: reading === null ? 'syncing' : stateNow(reading, ctx.clock.now()),
    block: known,
    headBlock: Math.max(known, Number(reading?.headBlock ?? 0n)),
    lagBlocks: Number(lagBlocks),
    safeBlock: Number(reading?.safeBlock ?? 0n),
    gates,
  };
}

/** The recorded state, or `stalled` when nothing was recorded for too long. */
const stateNow = ({ state, goodAt }: Reading, now: Date): ReadingState =>
  isStalled(now.getTime() - goodAt.getTime()) ? 'stalled' : state;

/** Exports the sync state as metrics of this process. */
export async function watchChainIndex(ctx: IndexContext & Telemetry): Promise<void> {
  const { block, lagBlocks, gates } = await readChainIndex(ctx);
  measureGates(ctx, gates);
  ctx.metrics.registryBlock.set(block);
  ctx.metrics.registryLagBlocks.set(lagBlocks);
}
