import type { Sql, Tx } from '../../db/sql.ts';
import { FEES, LOSS, lockFees, postTransfers } from './ledger-store.ts';
import { sumByKind } from './ledger-total-store.ts';
import { requireFunds } from './require-funds.ts';
import { sumUnclaimed } from './unclaimed-earnings-store.ts';
import { sumFeeHolds } from './withdrawal-hold-store.ts';

/**
 * Fees that can be withdrawn, in micro-USDC: less the holds of pending withdrawals, what no claim of vouchers covers yet, and what the node
 * has lost, which they cover.
 */
export async function unheldFees(sql: Sql): Promise<bigint> {
  const sums = await sumByKind(sql);
  const earnedMicro = (sums.get(FEES) ?? 0n) + (sums.get(LOSS) ?? 0n);
  return earnedMicro - (await sumFeeHolds(sql)) - (await sumUnclaimed(sql, FEES));
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
  const { withdrawalId: subjectId, treasuryId: credit, amountMicro, now } = take;
  await lockFees(tx);
  requireFees(await unheldFees(tx), amountMicro);
  const id = `fee_payout:${subjectId}`;
  await postTransfers(tx, [{ id, debit: FEES, credit, amountMicro, kind: 'fee_payout', subjectId }], now);
}
