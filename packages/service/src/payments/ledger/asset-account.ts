/**
 * The asset of a ledger account is part of its id: accounts of the node's default asset have plain ids, those of another end in `@` and its
 * CAIP-19 id. A transfer is between accounts of one asset (constraint `transfer_asset_check`), so balances never add up across assets.
 */

/** CAIP-19 id of an asset; null: the node's default asset. */
export type LedgerAsset = string | null;

/** The account with this plain id in an asset. */
export const inAsset = (plainId: string, asset: LedgerAsset): string =>
  asset === null ? plainId : `${plainId}@${asset}`;

export function assetOf(accountId: string): LedgerAsset {
  const place = accountId.indexOf('@');
  return place === -1 ? null : accountId.slice(place + 1);
}

export const plainId = (accountId: string): string => accountId.split('@', 1)[0] as string;

/** The account with this plain id in the asset of another account. */
export const inAssetOf = (accountId: string, otherId: string): string => inAsset(otherId, assetOf(accountId));

/** SQL: `@` and the asset of an account; empty for the default asset. */
export const assetSuffix = (account: string): string => `coalesce(substring(${account} from '@.*'), '')`;

/** SQL: the id of an account without its asset. */
export const plainSql = (account: string): string => `split_part(${account}, '@', 1)`;
