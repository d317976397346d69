import type { Sql, Tx } from '../../db/sql.ts';
import { FEES, lockFees, postTransfers } from './ledger-store.ts';
import { sumByKind } from './ledger-total-store.ts';
import { requireFunds } from './require-funds.ts';
import { sumFeeHolds } from './withdrawal-hold-store.ts';

/** What the node has earned and its operator has not taken, in micro-USDC. */
export const availableFees = async (sql: Sql): Promise<bigint> => (await sumByKind(sql)).get(FEES) ?? 0n;

/** The same less what withdrawals on their way have set aside, in micro-USDC. */
export const unheldFees = async (sql: Sql): Promise<bigint> => (await availableFees(sql)) - (await sumFeeHolds(sql));

/** Throws INSUFFICIENT_FUNDS when fewer fees are there than are asked for. */
export const requireFees = (availableMicro: bigint, amountMicro: bigint): void =>
  requireFunds(availableMicro, amountMicro, 'The fees that the node has earned are less than the amount.');

/**
 * Moves fees that the node earned into a treasury of its operator, in the caller's transaction; `withdrawalId` is what for. One after
 * the other, so that never more is taken than there is. Throws INSUFFICIENT_FUNDS when there is less.
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
