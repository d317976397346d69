import type { Plan } from '@agent-network/contracts/access/access';
import type { Sql, Tx } from '../store/sql.ts';

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

/** Has who gets an account, or is linked to one, wait until the transaction ends, and waits for those who are at it. */
export const lockWalletOwner = (tx: Tx, address: string): Promise<unknown> =>
  tx.query('lock-wallet-owner', `select pg_advisory_xact_lock(hashtextextended('wallet-owner:' || $1, 0))`, [address]);

/** Keeps the owners of wallets fixed until the transaction ends. */
export const holdWalletOwners = (tx: Tx, addresses: readonly string[]): Promise<unknown> =>
  tx.query(
    'hold-wallet-owners',
    `select pg_advisory_xact_lock_shared(hashtextextended('wallet-owner:' || address, 0))
       from (select address from unnest($1::text[]) a(address) order by address) a`,
    [addresses],
  );

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

export interface PayerAccount {
  readonly accountId: string;
  readonly plan: Plan;
  readonly isSuspended: boolean;
}

/** The account of a wallet: the one that it is linked to, else its own. */
export async function findPayerAccount(sql: Sql, address: string): Promise<PayerAccount | null> {
  const [row] = await sql.query<PayerAccount>(
    'find-payer-account',
    `select a.id as "accountId", a.plan, a.suspended_at is not null as "isSuspended" from account a
      where a.id = coalesce((select account_id from account_wallet where address = $1), (select id from account where address = $1))`,
    [address],
  );
  return row ?? null;
}

/** True if this wallet may read a request of the account: it is the account's own, or linked to it and paid for the request. */
export async function isReader(
  sql: Sql,
  { address, accountId, hasPaid }: { address: string; accountId: string; hasPaid: boolean },
): Promise<boolean> {
  const rows = await sql.query(
    'is-reader',
    `select from account where id = $2 and address = $1
     union all
     select from account_wallet where address = $1 and account_id = $2 and $3`,
    [address, accountId, hasPaid],
  );
  return rows.length > 0;
}
