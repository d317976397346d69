import type { HasDb } from '../../db/database.ts';
import type { Tx } from '../../db/sql.ts';
import { findLedgerAccount, lockLedgerAccount, openLedgerAccount, postTransfers } from '../ledger/ledger-store.ts';
import { moveSuspensePayments } from './suspense-store.ts';

/** Where USDC from a wallet of nobody waits until its owner shows who it is. */
export const suspenseAccountId = (address: string): string => `suspense:${address}`;

/** Opens the account where money of a wallet of nobody waits, unless it exists. Returns its id. */
export async function openSuspense(tx: Tx, address: string, now: Date): Promise<string> {
  const id = suspenseAccountId(address);
  await openLedgerAccount(tx, { id, kind: 'suspense', address, now });
  return id;
}

/** What waits for the owner of a wallet, in micro-USDC. */
export async function suspenseOf(ctx: HasDb, address: string): Promise<bigint> {
  return (await findLedgerAccount(ctx.db, suspenseAccountId(address)))?.postedMicro ?? 0n;
}

/**
 * Moves all that a wallet sent into a treasury of its owner's, in the transaction that uses up the proof (`claimId`). Returns how
 * much. The deposits are the account's from then on, in its history and should a reorg take one back.
 */
export async function claimSuspense(
  tx: Tx,
  claim: { claimId: string; address: string; accountId: string; treasuryId: string; now: Date },
): Promise<bigint> {
  const suspenseId = suspenseAccountId(claim.address);
  const suspense = await lockLedgerAccount(tx, suspenseId);
  if (!suspense || suspense.postedMicro === 0n) return 0n;
  const { claimId, treasuryId, accountId, now } = claim;
  const transfer = {
    id: `claim:${claimId}`,
    debit: suspenseId,
    credit: treasuryId,
    amountMicro: suspense.postedMicro,
    kind: 'claim' as const,
    subjectId: claimId,
  };
  await postTransfers(tx, [transfer], now);
  await moveSuspensePayments(tx, { suspenseId, treasuryId, accountId });
  return suspense.postedMicro;
}
