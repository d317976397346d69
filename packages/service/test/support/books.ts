import pg from 'pg';

/** Every way in which the ledger can contradict itself, one row for each contradiction found. */
const CONTRADICTIONS = `
  with movement as (
    select credit as account, amount_micro as amount from transfer
    union all select debit, -amount_micro from transfer
  ), folded as (
    select account, sum(amount) as balance from movement group by account
  ), open_hold as (
    select ledger_account_id as account, sum(amount_micro) as held from hold where ended_at is null group by 1
  )
  select 'balance of ' || a.id || ' is ' || a.posted_micro || ', its transfers say ' || coalesce(f.balance, 0) as problem
    from ledger_account a left join folded f on f.account = a.id
   where a.kind not in ('wallet', 'outgoing') and a.posted_micro <> coalesce(f.balance, 0)
  union all
  select 'held of ' || a.id || ' is ' || a.held_micro || ', its open holds say ' || coalesce(h.held, 0)
    from ledger_account a left join open_hold h on h.account = a.id where a.held_micro <> coalesce(h.held, 0)
  union all
  select a.id || ' is below zero' from ledger_account a where a.posted_micro < 0 or a.held_micro < 0 or a.held_micro > a.posted_micro
  union all
  select 'transfers of account ' || f.account || ', which does not exist' from folded f
   where not exists (select from ledger_account a where a.id = f.account)
  union all
  select 'debits and credits differ by ' || sum(amount) from movement having sum(amount) <> 0
  union all
  select 'ended request ' || h.id || ' still holds money' from hold h join invocation v on v.id = h.id
   where h.ended_at is null and v.completed_at is not null`;

const WALLET = `
  select coalesce(sum(case when debit = 'wallet' then amount_micro else -amount_micro end), 0)::text as micro
    from transfer where debit = 'wallet' or credit = 'wallet'`;

/** Asks a database with a connection of its own, whatever becomes of the services on it. */
export async function askDatabase<Row extends pg.QueryResultRow>(
  databaseUrl: string,
  text: string,
  params: readonly unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  try {
    return (await client.query<Row>(text, [...params])).rows;
  } finally {
    await client.end();
  }
}

/** What is wrong with the books; empty when every balance is the sum of its movements. */
export async function contradictions(databaseUrl: string): Promise<string[]> {
  const rows = await askDatabase<{ problem: string }>(databaseUrl, CONTRADICTIONS);
  return rows.map(({ problem }) => problem);
}

/** What the node's wallet must hold on chain by its books. */
export async function walletByBooks(databaseUrl: string): Promise<bigint> {
  const [row] = await askDatabase<{ micro: string }>(databaseUrl, WALLET);
  return BigInt(row?.micro ?? 0);
}
