import type { Reserves } from '@agent-network/contracts/payments/reserves';

/** What chain and books say about the node's wallet at one block, in micro-USDC. */
export interface WalletView {
  /** What the chain says it held. */
  readonly onChainMicro: bigint;
  /** What it must hold by the books, which were read later. */
  readonly bookedMicro: bigint;
  /** What of that came in, less what went out, after the block. */
  readonly bookedAfterBlockMicro: bigint;
  /** What the chain shows, up to the block, of payments and transfers that the books know of and have not booked: in, less out. */
  readonly unbookedMicro: bigint;
}

export interface Judgement {
  readonly differenceMicro: bigint;
  /** What nothing explains. */
  readonly driftMicro: bigint;
  readonly status: Reserves['status'];
}

/** Compares what the wallet held with what it must have held at that block. A difference has to be explained to the last micro-USDC. */
export function judgeReserves(view: WalletView): Judgement {
  const differenceMicro = view.onChainMicro - (view.bookedMicro - view.bookedAfterBlockMicro);
  const driftMicro = differenceMicro - view.unbookedMicro;
  const status = driftMicro !== 0n ? 'drift' : differenceMicro === 0n ? 'balanced' : 'settling';
  return { differenceMicro, driftMicro, status };
}

/** How often in a row the chain has contradicted the books, and whether that has been told of. */
export interface DriftEpisode {
  readonly driftedChecks: number;
  readonly isTold: boolean;
}

/** One check that drifts may be a chain that answers inconsistently; the second in a row is an alarm, once until it is over. */
const CHECKS_TO_TELL = 2;

export function nextEpisode(
  before: DriftEpisode,
  status: Reserves['status'],
): DriftEpisode & { readonly tells: boolean } {
  if (status !== 'drift') return { driftedChecks: 0, isTold: false, tells: false };
  const driftedChecks = before.driftedChecks + 1;
  const tells = driftedChecks >= CHECKS_TO_TELL && !before.isTold;
  return { driftedChecks, isTold: before.isTold || tells, tells };
}
