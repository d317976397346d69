import type { LockMode } from '../../db/lock-free.ts';
import type { Tx } from '../../db/sql.ts';
import type { Semaphore } from '../../lib/concurrency/semaphore.ts';
import type { HoldAnswer, HoldEnd, HoldRequest } from './hold.ts';
import { endHoldRows, placeHoldRows, placeVoucherHoldRows } from './hold-store.ts';
import { LOSS, lockFreeAccounts, type NewTransfer, postTransfers } from './ledger-store.ts';

/** Serializes this process's batches that move the money of requests: concurrent ones would wait for each other's account locks. */
export interface HasLedgerTurns {
  readonly ledgerTurns: Semaphore;
}

/** Places holds in the caller's transaction, in request order, for as many requests as each account can cover. */
export const holdMoney = async (
  tx: Tx,
  requests: readonly HoldRequest[],
  now: Date,
  locks: LockMode = 'wait',
): Promise<HoldAnswer[]> => (requests.length === 0 ? [] : placeHoldRows(tx, requests, now, locks));

/** Locks the accounts that nobody else has locked. Throws HeldUpError with the ids of the others, instead of waiting. */
export const lockFree = (tx: Tx, accountIds: readonly string[]): Promise<void> => lockFreeAccounts(tx, accountIds);

/** Places all of the holds: what an account lacks is the node's loss. */
export async function holdAtLoss(tx: Tx, requests: readonly HoldRequest[], now: Date): Promise<void> {
  const holds = await holdMoney(tx, requests, now);
  const lacking = requests.filter((_, index) => !holds[index]?.isHeld);
  await postTransfers(tx, lacking.map(coverOf), now);
  await holdMoney(tx, lacking, now);
}

const coverOf = ({ id, ledgerAccountId, amountMicro }: HoldRequest): NewTransfer => ({
  id: `covered:${id}`,
  debit: LOSS,
  credit: ledgerAccountId,
  amountMicro,
  kind: 'reversal',
  subjectId: id,
});

/** Takes what vouchers bring into the accounts of their channels, and holds it, in the caller's transaction. */
export async function holdVouchers(
  tx: Tx,
  requests: readonly HoldRequest[],
  now: Date,
  locks: LockMode = 'wait',
): Promise<void> {
  if (requests.length > 0) await placeVoucherHoldRows(tx, requests, now, locks);
}

/** Ends holds in the caller's transaction: captures a part, releases the rest. A hold that has ended stays unchanged. */
export async function endHolds(tx: Tx, ends: readonly HoldEnd[], now: Date, locks: LockMode = 'wait'): Promise<void> {
  if (ends.length > 0) await endHoldRows(tx, ends, now, locks);
}
