import { formatUsdc } from '@agent-network/contracts/money';
import { AppError } from '../../lib/app-error.ts';
import type { Sql, Tx } from '../../store/sql.ts';
import { assetOf, inAsset, type LedgerAsset } from './asset-account.ts';
import { FEES, LOSS, lockFees, postTransfers } from './ledger-store.ts';
import { sumByKind } from './ledger-total-store.ts';
import { sumFeeHolds, sumUnclaimed } from './withdrawal-hold-store.ts';

/**
 * Fees in an asset that can be withdrawn, in micro-USDC: without holds of pending withdrawals, earnings that no claim covers yet, and
 * losses of the node, which fees cover.
 */
export async function unheldFees(sql: Sql, asset: LedgerAsset): Promise<bigint> {
  const sums = await sumByKind(sql, asset);
  const earnedMicro = (sums.get(FEES) ?? 0n) + (sums.get(LOSS) ?? 0n);
  const fees = inAsset(FEES, asset);
  return earnedMicro - (await sumFeeHolds(sql, fees)) - (await sumUnclaimed(sql, fees));
}

/** Throws INSUFFICIENT_FUNDS when the available fees are less than requested. */
export const requireFees = (availableMicro: bigint, amountMicro: bigint): void =>
  requireFunds(
    availableMicro,
    amountMicro,
    'The node can withdraw less in fees than the amount: what vouchers owe has to be claimed first, and fees cover losses.',
  );

/**
 * Moves earned fees into a treasury of the operator, for the withdrawal `withdrawalId`, in the caller's transaction. Serialized, so that
 * never more is taken than available. Throws INSUFFICIENT_FUNDS when less is available.
 */
export async function takeFees(
  tx: Tx,
  take: { withdrawalId: string; treasuryId: string; amountMicro: bigint; now: Date },
): Promise<void> {
  const { withdrawalId: subjectId, treasuryId, amountMicro, now } = take;
  const asset = assetOf(treasuryId);
  await lockFees(tx, asset);
  requireFees(await unheldFees(tx, asset), amountMicro);
  const id = `fee_payout:${subjectId}`;
  await postTransfers(
    tx,
    [{ id, debit: inAsset(FEES, asset), credit: treasuryId, amountMicro, kind: 'fee_payout', subjectId }],
    now,
  );
}

/** The node's fee on an earned amount, rounded down to the micro-USDC in the agent's favour. */
export const feeOf = (earnedMicro: bigint, feeBps: number): bigint => (earnedMicro * BigInt(feeBps)) / 10_000n;

/** Throws the error of this code, with both figures, when less is available than requested. In micro-USDC. */
export function requireFunds(
  availableMicro: bigint,
  amountMicro: bigint,
  message: string,
  code: 'INSUFFICIENT_FUNDS' | 'INSUFFICIENT_BALANCE' = 'INSUFFICIENT_FUNDS',
): void {
  if (availableMicro >= amountMicro) return;
  throw new AppError(code, message, {
    details: { required: formatUsdc(amountMicro), available: formatUsdc(availableMicro) },
  });
}
