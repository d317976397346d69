import { AppError } from '../lib/app-error.ts';
import type { Sql, Tx } from '../store/sql.ts';
import {
  findAccountsOfWallets,
  holdWalletOwners,
  isProvenWallet,
  linkWalletRow,
  lockWalletOwner,
} from './account-wallet-store.ts';

/** The accounts of wallets, by lower-case address; unknown wallets are missing. */
export const accountsOfWallets = (sql: Sql, addresses: readonly string[]): Promise<ReadonlyMap<string, string>> =>
  addresses.length === 0 ? Promise.resolve(new Map()) : findAccountsOfWallets(sql, addresses);

/**
 * Finds the accounts that own wallets and keeps ownership fixed until the transaction ends, so that money goes to the owner, or to suspense
 * if there is none. A later owner finds the money there.
 */
export async function holdAccountsOfWallets(
  tx: Tx,
  addresses: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (addresses.length === 0) return new Map();
  await holdWalletOwners(tx, addresses);
  return findAccountsOfWallets(tx, addresses);
}

/** True when an account has proven a wallet. An account opened for a wallet is no proof. */
export const hasProven = (sql: Sql, accountId: string, address: string): Promise<boolean> =>
  isProvenWallet(sql, address, accountId);

/** Links a proven wallet to the account, in the caller's transaction. Throws CONFLICT when it is linked to another. */
export async function linkWallet(tx: Tx, address: string, accountId: string, now: Date): Promise<void> {
  await lockWalletOwner(tx, address);
  const known = (await findAccountsOfWallets(tx, [address])).get(address);
  const owner = known ?? (await linkWalletRow(tx, address, accountId, now));
  if (owner !== accountId)
    throw new AppError(
      'CONFLICT',
      'This wallet belongs to another account of this node. Sign in with it to act as that account, or prove another wallet.',
    );
}
