import type { Sql, Tx } from '../../db/sql.ts';
import { AppError } from '../../lib/app-error.ts';
import { findAccountsOfWallets, isProvenWallet, linkWalletRow } from './account-wallet-store.ts';

/** The accounts of wallets, by lower-case address; unknown wallets are missing. */
export const accountsOfWallets = (sql: Sql, addresses: readonly string[]): Promise<ReadonlyMap<string, string>> =>
  addresses.length === 0 ? Promise.resolve(new Map()) : findAccountsOfWallets(sql, addresses);

/** True when an account has proven a wallet. An account opened for a wallet is no proof. */
export const hasProven = (sql: Sql, accountId: string, address: string): Promise<boolean> =>
  isProvenWallet(sql, address, accountId);

/** Links a proven wallet to the account, in the caller's transaction. Throws CONFLICT when it is linked to another. */
export async function linkWallet(tx: Tx, address: string, accountId: string, now: Date): Promise<void> {
  const known = (await findAccountsOfWallets(tx, [address])).get(address);
  const owner = known ?? (await linkWalletRow(tx, address, accountId, now));
  if (owner !== accountId) throw new AppError('CONFLICT', 'This wallet belongs to another account of this node.');
}
