import { holdAccountsOfWallets } from '../../accounts/link-wallet.ts';
import type { Store } from '../../store/database.ts';
import type { Tx } from '../../store/sql.ts';
import { inAsset, type LedgerAsset } from '../ledger/asset-account.ts';
import {
  type LedgerAccount,
  listSuspenses,
  lockLedgerAccount,
  openLedgerAccounts,
  postTransfers,
} from '../ledger/ledger-store.ts';
import { openTreasury } from '../ledger/open-treasury.ts';
import { moveSuspensePayments } from './suspense-store.ts';

const MOVED_AT_ONCE = 1000;

/** Ledger account that holds USDC from an unclaimed wallet until its owner proves it. */
export const suspenseAccountId = (address: string, asset: LedgerAsset = null): string =>
  inAsset(`suspense:${address}`, asset);

/** Opens the suspense account of an unclaimed wallet in an asset, unless it exists. Returns its id. */
export async function openSuspense(tx: Tx, address: string, now: Date, asset: LedgerAsset = null): Promise<string> {
  await openSuspenses(tx, [address], now, asset);
  return suspenseAccountId(address, asset);
}

/** Opens the suspense accounts of several wallets. */
export const openSuspenses = (
  tx: Tx,
  addresses: readonly string[],
  now: Date,
  asset: LedgerAsset = null,
): Promise<void> =>
  openLedgerAccounts(
    tx,
    addresses.map((address) => ({ id: suspenseAccountId(address, asset), kind: 'suspense', address })),
    now,
  );

/**
 * Opens the account that money for a wallet is credited to, unless it exists: the treasury of the account that has proven the wallet, which
 * is held until the transaction ends, or its suspense account. Returns its id.
 */
export async function accountOfWallet(tx: Tx, address: string, now: Date, asset: LedgerAsset): Promise<string> {
  const ownerId = (await holdAccountsOfWallets(tx, [address])).get(address);
  return ownerId === undefined ? openSuspense(tx, address, now, asset) : openTreasury(tx, ownerId, now, asset);
}

/** An amount of a wallet that is in suspense, or was until it was claimed. */
export interface Suspended {
  readonly asset: LedgerAsset;
  readonly micro: bigint;
}

/** Balances of a wallet's suspense accounts above 0. */
export async function suspensesOf({ db }: Store, address: string): Promise<Suspended[]> {
  const accounts = await listSuspenses(db, address);
  return accounts.flatMap(({ asset, postedMicro: micro }) => (micro > 0n ? { asset, micro } : []));
}

interface SuspenseClaim {
  readonly claimId: string;
  readonly address: string;
  readonly accountId: string;
  readonly now: Date;
}

/**
 * Moves a wallet's suspense balances into its owner's treasuries, in the transaction that uses up the proof (`claimId`) and locks the
 * wallet's owner, so no deposit arrives in between. Returns the amounts. The deposits belong to that account from then
 * on: in its history, and for reversals after a reorg. They are moved in steps, and before the ledger is locked, as a wallet may have sent
 * any number of them.
 */
export async function claimSuspense(tx: Tx, claim: SuspenseClaim): Promise<Suspended[]> {
  const claimed: Suspended[] = [];
  for (const { id, asset } of await listSuspenses(tx, claim.address)) {
    const micro = await claimOne(tx, claim, { id, asset });
    if (micro > 0n) claimed.push({ asset, micro });
  }
  return claimed;
}

async function claimOne(
  tx: Tx,
  { claimId, accountId, now }: SuspenseClaim,
  { id: suspenseId, asset }: Pick<LedgerAccount, 'id' | 'asset'>,
): Promise<bigint> {
  const treasuryId = await openTreasury(tx, accountId, now, asset);
  while (
    (await moveSuspensePayments(tx, { suspenseId, treasuryId, accountId, limit: MOVED_AT_ONCE })) === MOVED_AT_ONCE
  );
  const suspense = await lockLedgerAccount(tx, suspenseId);
  if (!suspense || suspense.postedMicro === 0n) return 0n;
  const transfer = {
    id: inAsset(`claim:${claimId}`, asset),
    debit: suspenseId,
    credit: treasuryId,
    amountMicro: suspense.postedMicro,
    kind: 'claim' as const,
    subjectId: claimId,
  };
  await postTransfers(tx, [transfer], now);
  return suspense.postedMicro;
}

/** Claims money waiting for a wallet that has just signed in. Its account gets a treasury only if there is any. */
export async function claimAtSignIn(tx: Tx, claim: SuspenseClaim): Promise<void> {
  const waiting = await listSuspenses(tx, claim.address);
  if (waiting.some(({ postedMicro }) => postedMicro > 0n)) await claimSuspense(tx, claim);
}
