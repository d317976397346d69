import type { Sql } from '../../db/sql.ts';

/** Accounts by their own wallet or a further proven one, keyed by address. */
export async function findAccountsOfWallets(sql: Sql, addresses: readonly string[]): Promise<Map<string, string>> {
  const rows = await sql.query<{ address: string; accountId: string }>(
    'find-accounts-of-wallets',
    `select address, id as "accountId" from account where address = any($1)
     union all
     select address, account_id from account_wallet where address = any($1)`,
    [addresses],
  );
  return new Map(rows.map(({ address, accountId }) => [address, accountId]));
}

/** True when the account has proven this wallet: its own, or a further one. */
export async function isProvenWallet(sql: Sql, address: string, accountId: string): Promise<boolean> {
  const rows = await sql.query(
    'is-proven-wallet',
    `select from account where id = $2 and address = $1 and wallet_proven_at is not null
     union all
     select from account_wallet where address = $1 and account_id = $2`,
    [address, accountId],
  );
  return rows.length > 0;
}

/** Links a proven wallet to an account. A wallet already linked to another stays there: returns its account. */
export async function linkWalletRow(sql: Sql, address: string, accountId: string, now: Date): Promise<string> {
  await sql.query(
    'link-wallet',
    'insert into account_wallet (address, account_id, proven_at) values ($1, $2, $3) on conflict do nothing',
    [address, accountId, now],
  );
  return (await findAccountsOfWallets(sql, [address])).get(address) ?? accountId;
}

/** Further proven wallets of an account, newest first. */
export const listWallets = (
  sql: Sql,
  accountId: string,
  limit: number,
): Promise<{ address: string; provenAt: Date }[]> =>
  sql.query(
    'list-wallets',
    `select address, proven_at as "provenAt" from account_wallet where account_id = $1 order by proven_at desc, address limit $2`,
    [accountId, limit],
  );
