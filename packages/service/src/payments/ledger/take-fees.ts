import type { Sql, Tx } from '../../db/sql.ts';
import { FEES, lockFees, postTransfers } from './ledger-store.ts';
import { sumByKind } from './ledger-total-store.ts';
import { requireFunds } from './require-funds.ts';
import { sumFeeHolds } from './withdrawal-hold-store.ts';

/** Fees that the node has earned and its operator has not withdrawn, in micro-USDC. */
export const availableFees = async (sql: Sql): Promise<bigint> => (await sumByKind(sql)).get(FEES) ?? 0n;

/** Available fees less the holds of pending withdrawals, in micro-USDC. */
export const unheldFees = async (sql: Sql): Promise<bigint> => (await availableFees(sql)) - (await sumFeeHolds(sql));

/** Throws INSUFFICIENT_FUNDS when the available fees are less than requested. */
export const requireFees = (availableMicro: bigint, amountMicro: bigint): void =>
  requireFunds(availableMicro, amountMicro, 'The node has earned less in fees than the amount.');

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
