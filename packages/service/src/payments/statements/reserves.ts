import type { Reserves } from '@agent-network/contracts/payments/reserves';

/** Balances of the node's wallet at one block, from chain and books, in micro-USDC. */
export interface WalletView {
  /** Balance on chain. */
  readonly onChainMicro: bigint;
  /** Balance required by the books, which were read later. */
  readonly bookedMicro: bigint;
  /** The part of it that was booked from later blocks: in less out. */
  readonly bookedAfterBlockMicro: bigint;
  /** Payments and transfers that the chain has up to the block and the books have not booked yet: in less out. */
  readonly unbookedMicro: bigint;
  /** The part of the node's losses that its own fees do not cover: somebody's money is not there. */
  readonly uncoveredLossMicro: bigint;
}

export interface Judgement {
  readonly differenceMicro: bigint;
  /** The unexplained difference. */
  readonly driftMicro: bigint;
  readonly status: Reserves['status'];
}

/**
 * Compares the wallet's balance with the books at that block. A difference has to be explained to the last micro-USDC, and a loss has to be
 * covered: the books know of it, and whom it is owed to waits for it all the same.
 */
export function judgeReserves(view: WalletView): Judgement {
  const differenceMicro = view.onChainMicro - (view.bookedMicro - view.bookedAfterBlockMicro);
  const driftMicro = differenceMicro - view.unbookedMicro;
  const isWhole = driftMicro === 0n && view.uncoveredLossMicro === 0n;
  const status = !isWhole ? 'drift' : differenceMicro === 0n ? 'balanced' : 'settling';
  return { differenceMicro, driftMicro, status };
}

/** Number of consecutive checks with a drift, and whether it was reported. */
export interface DriftEpisode {
  readonly driftedChecks: number;
  readonly isTold: boolean;
}

/** A single drift may be an inconsistent RPC answer; the second in a row is reported, once per episode. */
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
