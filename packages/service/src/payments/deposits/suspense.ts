import type { HasDb } from '../../db/database.ts';
import type { Tx } from '../../db/sql.ts';
import { findLedgerAccount, lockLedgerAccount, openLedgerAccounts, postTransfers } from '../ledger/ledger-store.ts';
import { openTreasury } from '../ledger/open-treasury.ts';
import { moveSuspensePayments } from './suspense-store.ts';

const MOVED_AT_ONCE = 1000;

/** Ledger account that holds USDC from an unclaimed wallet until its owner proves it. */
export const suspenseAccountId = (address: string): string => `suspense:${address}`;

/** Opens the suspense account of an unclaimed wallet, unless it exists. Returns its id. */
export async function openSuspense(tx: Tx, address: string, now: Date): Promise<string> {
  await openSuspenses(tx, [address], now);
  return suspenseAccountId(address);
}

/** The same of several wallets. */
export const openSuspenses = (tx: Tx, addresses: readonly string[], now: Date): Promise<void> =>
  openLedgerAccounts(
    tx,
    addresses.map((address) => ({ id: suspenseAccountId(address), kind: 'suspense', address })),
    now,
  );

/** Balance of a wallet's suspense account, in micro-USDC. */
export async function suspenseOf(ctx: HasDb, address: string): Promise<bigint> {
  return (await findLedgerAccount(ctx.db, suspenseAccountId(address)))?.postedMicro ?? 0n;
}

interface SuspenseClaim {
  readonly claimId: string;
  readonly address: string;
  readonly accountId: string;
  readonly treasuryId: string;
  readonly now: Date;
}

/**
 * Moves a wallet's suspense balance into its owner's treasury, in the transaction that uses up the proof (`claimId`) and holds the wallet's
 * owner, so no deposit comes in meanwhile. Returns the amount. The deposits belong to that account from then on: in its history, and for
 * reversals after a reorg. They are moved in steps, and before the ledger is locked: a wallet may have sent any number of them.
 */
export async function claimSuspense(tx: Tx, claim: SuspenseClaim): Promise<bigint> {
  const suspenseId = suspenseAccountId(claim.address);
  if (!(await findLedgerAccount(tx, suspenseId))) return 0n;
  const { claimId, treasuryId, accountId, now } = claim;
  while (
    (await moveSuspensePayments(tx, { suspenseId, treasuryId, accountId, limit: MOVED_AT_ONCE })) === MOVED_AT_ONCE
  );
  const suspense = await lockLedgerAccount(tx, suspenseId);
  if (!suspense || suspense.postedMicro === 0n) return 0n;
  const transfer = {
    id: `claim:${claimId}`,
    debit: suspenseId,
    credit: treasuryId,
    amountMicro: suspense.postedMicro,
    kind: 'claim' as const,
    subjectId: claimId,
  };
  await postTransfers(tx, [transfer], now);
  return suspense.postedMicro;
}

/** The same for a wallet that has just signed in, whose account may have no treasury yet: money that waits for it is in its balance then. */
export async function claimAtSignIn(tx: Tx, claim: Omit<SuspenseClaim, 'treasuryId'>): Promise<void> {
  const waiting = await findLedgerAccount(tx, suspenseAccountId(claim.address));
  if (!waiting || waiting.postedMicro === 0n) return;
  await claimSuspense(tx, { ...claim, treasuryId: await openTreasury(tx, claim.accountId, claim.now) });
}
