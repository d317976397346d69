import type { Sql } from '../../store/sql.ts';
import type { PaidOwner, PayerHistory } from './credibility.ts';
import type { PayerBooks } from './payer-ties.ts';

/** The wallets that accounts have acted with, with their holders' consent. */
export const listContacts = (sql: Sql, accountIds: readonly string[]): Promise<PayerBooks['contacts'][number][]> =>
  sql.query(
    'list-contacts',
    'select account_id as "accountId", wallet from account_contact where account_id = any($1) group by 1, 2',
    [accountIds],
  );

/** The wallets that accounts sent money to: withdrawals, and bills of their agents. */
export const listGifts = (sql: Sql, accountIds: readonly string[]): Promise<PayerBooks['gifts'][number][]> =>
  sql.query(
    'list-gifts',
    `select distinct account_id as "from", to_address as "to" from chain_payment
      where account_id = any($1) and purpose = 'withdrawal' and state = 'settled'
     union
     select g.account_id, p.wallet from agent g join agent_payee p on p.agent_id = g.id where g.account_id = any($1)`,
    [accountIds],
  );

/** The given accounts that paid an agent of another account in `to`. */
export const listTrades = (
  sql: Sql,
  from: readonly string[],
  to: readonly string[],
): Promise<PayerBooks['trades'][number][]> =>
  sql.query(
    'list-trades',
    `select distinct p.account_id as "from", g.account_id as "to" from payer_agent p join agent g on g.id = p.agent_id
      where p.account_id = any($1) and g.account_id = any($2) and p.account_id <> g.account_id`,
    [from, to],
  );

/** Payments of accounts to the agents of others. */
export const listPaidOwners = (
  sql: Sql,
  accountIds: readonly string[],
): Promise<(PaidOwner & { accountId: string })[]> =>
  sql.query(
    'list-paid-owners',
    `select p.account_id as "accountId", g.account_id as "ownerId", sum(p.paid_micro)::bigint as "paidMicro",
            min(p.first_paid_at) as "firstPaidAt"
       from payer_agent p join agent g on g.id = p.agent_id where p.account_id = any($1) group by 1, 2`,
    [accountIds],
  );

/** Written in the order of ids, so that two writers of the same rows can't deadlock. */
export async function saveHistories(
  sql: Sql,
  payers: readonly (PayerHistory & { accountId: string })[],
  now: Date,
): Promise<void> {
  const sorted = [...payers].sort((a, b) => (a.accountId < b.accountId ? -1 : 1));
  await sql.query(
    'save-payer-histories',
    `insert into payer (account_id, breadth, since, computed_at)
     select *, $4::timestamptz from unnest($1::text[], $2::float8[], $3::timestamptz[])
     on conflict (account_id) do update set breadth = excluded.breadth, since = excluded.since, computed_at = excluded.computed_at`,
    [sorted.map((each) => each.accountId), sorted.map((each) => each.breadth), sorted.map((each) => each.since), now],
  );
}

/** The histories of these accounts that were computed after `after`. */
export async function findHistories(
  sql: Sql,
  accountIds: readonly string[],
  after: Date,
): Promise<Map<string, PayerHistory>> {
  const rows = await sql.query<PayerHistory & { accountId: string }>(
    'find-payer-histories',
    'select account_id as "accountId", breadth, since from payer where account_id = any($1) and computed_at > $2',
    [accountIds, after],
  );
  return new Map(rows.map((row) => [row.accountId, row]));
}
