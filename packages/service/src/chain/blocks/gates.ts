import type { Gate } from '@agent-network/contracts/network/network';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import type { Store } from '../../store/database.ts';
import type { ChainInfo } from '../chain-info.ts';
import { type GateRow, type GatesOf, listGates } from './gate-store.ts';

/** Time without a new block after which a gate counts as stalled. `safe` rises by steps, on Base every one or two minutes. */
const STALLED_MS = { head: 60_000, safe: 600_000, follower: 60_000 };
/** A follower that is not further behind than this waits for nothing: blocks arrive while others are read. */
const LEVEL_BLOCKS = 5n;
/** Depth at which a block counts as safe from reorgs where the RPC node does not say so of it: 20 minutes on Base. */
const SAFE_DEPTH = 600n;

/**
 * The newest safe block: the one that the RPC node reports, or the block 600 deep if that is newer. So depth replaces a `safe` that the
 * node does not have, that is 0, or that does not move, automatically.
 */
export function safeBlockOf(headBlock: bigint, reported: bigint | null): bigint {
  const deep = headBlock > SAFE_DEPTH ? headBlock - SAFE_DEPTH : 0n;
  return reported !== null && reported > deep ? reported : deep;
}

/** States of the gates of a chain. A local chain mines only on demand, so its head may stay. */
export function gatesOf(rows: readonly GateRow[], now: Date, isLocal: boolean): Gate[] {
  const head = rows.find(({ name }) => name === 'head')?.block ?? 0n;
  return rows.map((row) => {
    const { name, block } = row;
    const ageMs = Math.max(0, now.getTime() - row.movedAt.getTime());
    const isStalled = (): boolean => {
      if (name === 'head' || name === 'safe') return !isLocal && ageMs >= STALLED_MS[name];
      return head - block > LEVEL_BLOCKS && ageMs >= STALLED_MS.follower;
    };
    const state = isStalled() ? 'stalled' : 'moving';
    const reason = state === 'stalled' ? reasonOf(row, head, Math.round(ageMs / 1000)) : null;
    return { name, state, block: Number(block), ageS: Math.round(ageMs / 1000), reason };
  });
}

function reasonOf({ name, block, reason }: GateRow, head: bigint, ageS: number): string {
  switch (name) {
    case 'head':
      return `the chain's newest block has been ${block} for ${ageS} s: nothing gets deeper, and nothing new is read`;
    case 'safe':
      return `the RPC node's \`safe\` block has been ${block} for ${ageS} s: blocks ${SAFE_DEPTH} deep count as safe instead`;
    default:
      return `reading for ${name} has stood ${head - block} blocks behind the head for ${ageS} s${reason === null ? '' : `: ${reason}`}`;
  }
}

/** Exports the gates of a chain as metrics of this process. */
export function measureGates({ metrics }: Telemetry, gates: readonly Gate[]): void {
  for (const { name, state, ageS } of gates) {
    metrics.chainGateStalled.set({ gate: name }, state === 'stalled' ? 1 : 0);
    metrics.chainGateAge.set({ gate: name }, ageS);
  }
}

/** States of the gates of a chain, of all processes. */
export const readGates = async (ctx: Store, chain: GatesOf & Pick<ChainInfo, 'isLocal'>): Promise<Gate[]> =>
  gatesOf(await listGates(ctx.db, chain), ctx.clock.now(), chain.isLocal);

/** Reason that gates are stalled, for an answer that depends on one; null: none is. */
export async function whyStalled(ctx: Store, chain: GatesOf & Pick<ChainInfo, 'isLocal'>): Promise<string | null> {
  const reasons = (await readGates(ctx, chain)).flatMap(({ reason }) => reason ?? []);
  return reasons.length === 0 ? null : reasons.join('; ');
}
