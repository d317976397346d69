import type { LockMode } from '../../store/lock-free.ts';
import { run, type Statement, type Tx } from '../../store/sql.ts';
import { inAssetOf } from './asset-account.ts';
import type { HoldAnswer, HoldEnd, HoldRequest } from './hold.ts';
import { allHoldsPlaced, holdsEnded, holdsPlaced, voucherHoldsPlaced } from './hold-store.ts';
import { freeAccountsGuard, LOSS, lockFreeAccounts, type NewTransfer, postTransfers } from './ledger-store.ts';

/** Places holds in the caller's transaction, in request order, for as many requests as each account can cover. */
export const holdMoney = async (
  tx: Tx,
  requests: readonly HoldRequest[],
  now: Date,
  locks: LockMode = 'wait',
): Promise<HoldAnswer[]> => (requests.length === 0 ? [] : run(tx, holdsPlaced(requests, now, locks)));

/** Guarded flush statements that place all holds. They fail if any account is locked. */
export const holdsPlacedFree = (requests: readonly HoldRequest[], now: Date): Statement[] => [
  freeAccountsGuard(requests.map(({ ledgerAccountId }) => ledgerAccountId)),
  allHoldsPlaced(requests, now),
];

/** Locks accounts without waiting. Throws HeldUpError with the ids of the accounts that other transactions have locked. */
export const lockFree = (tx: Tx, accountIds: readonly string[]): Promise<void> => lockFreeAccounts(tx, accountIds);

/** Places all of the holds; the node covers missing amounts at its loss. */
export async function holdAtLoss(tx: Tx, requests: readonly HoldRequest[], now: Date): Promise<void> {
  const holds = await holdMoney(tx, requests, now);
  const lacking = requests.filter((_, index) => !holds[index]?.isHeld);
  await postTransfers(tx, lacking.map(coverOf), now);
  await holdMoney(tx, lacking, now);
}

const coverOf = ({ id, ledgerAccountId, amountMicro }: HoldRequest): NewTransfer => ({
  id: `covered:${id}`,
  debit: inAssetOf(ledgerAccountId, LOSS),
  credit: ledgerAccountId,
  amountMicro,
  kind: 'reversal',
  subjectId: id,
});

/** Credits the amounts of vouchers to the accounts of their channels, and holds them, in the caller's transaction. */
export async function holdVouchers(
  tx: Tx,
  requests: readonly HoldRequest[],
  now: Date,
  locks: LockMode = 'wait',
): Promise<void> {
  if (requests.length > 0) await run(tx, voucherHoldsPlaced(requests, now, locks));
}

/** Flush statements that place voucher holds. They fail if any account is locked. */
export const voucherHoldsPlacedFree = (requests: readonly HoldRequest[], now: Date): Statement[] => [
  freeAccountsGuard(requests.map(({ ledgerAccountId }) => ledgerAccountId)),
  voucherHoldsPlaced(requests, now, 'skip'),
];

/** Flush statements that end holds. They fail if any account is locked. */
export const holdsEndedFree = (ends: readonly HoldEnd[], accountIds: readonly string[], now: Date): Statement[] =>
  ends.length === 0 ? [] : [freeAccountsGuard(accountIds), holdsEnded(ends, now, 'skip')];

/** Ends holds in the caller's transaction: captures a part, releases the rest. A hold that has ended stays unchanged. */
export async function endHolds(tx: Tx, ends: readonly HoldEnd[], now: Date, locks: LockMode = 'wait'): Promise<void> {
  if (ends.length > 0) await run(tx, holdsEnded(ends, now, locks));
}
