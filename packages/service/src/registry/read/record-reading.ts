import { type GateNews, listGates, recordGates } from '../../chain/blocks/gate-store.ts';
import { gatesOf, safeBlockOf } from '../../chain/blocks/gates.ts';
import type { NodeIdentity } from '../../chain/chain-info.ts';
import { emit } from '../../events/outbox/outbox.ts';
import { networkListeners } from '../../events/webhooks/network-listeners.ts';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import type { Store } from '../../store/database.ts';
import type { Tx } from '../../store/sql.ts';
import { lagOf, readingState } from './reading-state.ts';
import { newestPoint } from './registry-point-store.ts';
import { lockReading, type Reading, writeReading } from './registry-reading-store.ts';
import type { RegistryIndex } from './registry-tokens.ts';

export type ReadingContext = Store &
  Telemetry &
  Pick<RegistryIndex, 'registry'> &
  Pick<NodeIdentity, 'chain'> & { readonly nodeLabel: string };

/** Observations of one run of the reader. */
export interface RunObservation {
  readonly headBlock: bigint;
  /** null: the chain does not report it. */
  readonly safeBlock: bigint | null;
  /** True if the run made progress or there was nothing to read. */
  readonly isGood: boolean;
}

/** Records the sync state; null: the chain did not answer. Emits `replication.status` when the state changes. */
export async function recordReading(ctx: ReadingContext, seen: RunObservation | null): Promise<void> {
  const { chainId, startBlock } = ctx.registry;
  const now = ctx.clock.now();
  const changed = await ctx.db.transaction(async (tx) => {
    const before = await lockReading(tx, chainId, now);
    const block = (await newestPoint(tx, chainId))?.block ?? startBlock - 1n;
    if (seen) await recordGates(tx, { chainId }, newsOf(seen), now);
    const [head] = gatesOf(await listGates(tx, { chainId }), now, ctx.registry.isLocal).filter(
      ({ name }) => name === 'head',
    );
    const goodAt = seen?.isGood && head?.state !== 'stalled' ? now : before.goodAt;
    const headBlock = seen?.headBlock ?? before.headBlock;
    const safeBlock = seen ? safeBlockOf(seen.headBlock, seen.safeBlock) : before.safeBlock;
    const lagBlocks = lagOf(headBlock, block);
    const state = readingState({ lagBlocks, sinceGoodMs: now.getTime() - goodAt.getTime() });
    await writeReading(tx, chainId, { state, headBlock, safeBlock, goodAt });
    if (state === before.state) return null;
    const data = { state, block: Number(block < 0n ? 0n : block), lagBlocks: Number(lagBlocks) };
    await tell(ctx, tx, now, data);
    return data;
  });
  if (changed?.state === 'stalled') ctx.log.error(changed, 'shared registry reader stalled');
  else if (changed) ctx.log.info(changed, 'shared registry sync state changed');
}

const newsOf = ({ headBlock, safeBlock }: RunObservation): GateNews[] => [
  { name: 'head', block: headBlock, reason: null },
  // Where the chain reports none, depth stands in for it, and it moves with the head.
  { name: 'safe', block: safeBlock ?? safeBlockOf(headBlock, null), reason: null },
];

async function tell(
  ctx: ReadingContext,
  tx: Tx,
  now: Date,
  reading: { state: Reading['state']; block: number; lagBlocks: number },
): Promise<void> {
  const type = 'replication.status';
  const nodeId = ctx.chain.wallet;
  const data = { nodeId, label: ctx.nodeLabel, ...reading };
  const listeners = await networkListeners(tx, type, now);
  await emit(
    tx,
    listeners.map((accountId) => ({ type, accountId, subjectId: nodeId, data })),
    now,
  );
}
