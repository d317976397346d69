import type pg from 'pg';
import { findMoneyContradictions } from '../../src/calls/finish/audit-money.ts';
import { suspensesOf } from '../../src/payments/deposits/suspense.ts';
import type { Store } from '../../src/store/database.ts';
import { withClient, withDatabaseOf } from './kept-connections.ts';
import { until } from './until.ts';

const WALLET = `
  select coalesce(sum(case when debit = 'wallet' then amount_micro else -amount_micro end), 0)::text as micro
    from transfer where debit = 'wallet' or credit = 'wallet'`;

/** Asks a database directly, whatever becomes of the services on it. */
export const askDatabase = <Row extends pg.QueryResultRow>(
  databaseUrl: string,
  text: string,
  params: readonly unknown[] = [],
): Promise<Row[]> => withClient(databaseUrl, async (client) => (await client.query<Row>(text, [...params])).rows);

/** What waits for the owner of a wallet in the default asset. */
export async function suspenseOf(ctx: Store, address: string): Promise<bigint> {
  return (await suspensesOf(ctx, address)).find(({ asset }) => asset === null)?.micro ?? 0n;
}

/** Spending and earnings in the figures that differ from the ledger of the same requests. */
const FIGURES = `
  with figure as (
    select subject_id, side, sum(amount_micro) as micro from (
      select subject_id, side, amount_micro from call_figure where span = 'day'
      union all select account_id, 'made', spent_micro from call_change
      union all select agent_account_id, 'received', earned_micro from call_change
      union all select agent_id, 'received', earned_micro from call_change
    ) each group by 1, 2
  ), booked as (
    select v.account_id as subject_id, 'made' as side,
           sum(case when t.debit = v.payer_ledger_id then t.amount_micro when t.credit = v.payer_ledger_id then -t.amount_micro else 0 end) as micro
      from invocation v
      join transfer t on t.id in ('charge:' || v.id, 'bill:' || v.id, 'bill_return:' || v.id, 'home_refund:' || v.id, 'home_return:' || v.id)
     where v.completed_at is not null group by 1
    union all
    select a.agent_id, 'received', sum(case when t.credit = a.id then t.amount_micro else -t.amount_micro end)
      from ledger_account a
      join transfer t on t.credit = a.id and t.kind = 'charge' or t.debit = a.id and t.kind = 'fee' where a.kind = 'agent' group by 1
  )
  select 'figure_differs' as kind, subject_id as subject, f.side || ' ' || coalesce(f.micro, 0) || ', booked ' || coalesce(b.micro, 0) as detail
    from figure f full join booked b using (subject_id, side)
   where coalesce(f.micro, 0) <> coalesce(b.micro, 0) and (b.side is not null or f.side = 'made')`;

/** Calls and spending by agent that differ from the payers' figures or from the ended requests. */
const USE = `
  with use as (
    select account_id, sum(spent_micro) as micro, sum(calls) as calls from (
      select account_id, spent_micro, calls from agent_use union all select account_id, spent_micro, calls from call_change
    ) each group by 1
  ), figure as (
    select account_id, sum(micro) as micro, sum(calls) as calls from (
      select subject_id as account_id, amount_micro as micro, calls from call_figure where span = 'day' and side = 'made'
      union all select account_id, spent_micro, calls from call_change
    ) each group by 1
  ), ended as (
    select account_id, count(*) as calls from invocation where completed_at is not null group by 1
  )
  select 'use_differs' as kind, account_id as subject,
         concat_ws(', ', u.micro, u.calls, 'figures ' || f.micro, f.calls, 'ended ' || e.calls) as detail
    from use u full join figure f using (account_id) full join ended e using (account_id)
   where u.micro is distinct from f.micro or u.calls is distinct from f.calls or u.calls is distinct from e.calls`;

/**
 * Channels of which the ledger says otherwise than their row: what their vouchers are for, less what came back, is charged or in flight. And
 * calls that cost something else than their channels were charged, unless the bill came back to the payer's wallet.
 */
const CHANNELS = `
  with voucher as (
    select split_part(case kind when 'voucher' then credit else debit end, '@', 1) as account_id,
           sum(case kind when 'voucher' then amount_micro else -amount_micro end) as micro
      from transfer where kind in ('voucher', 'voucher_release') group by 1
  )
  select 'channel_differs' as kind, c.id as subject,
         'charged ' || c.charged_micro || ', in flight ' || c.reserved_micro || ', the ledger has ' || coalesce(v.micro, 0) as detail
    from channel c left join voucher v on v.account_id = 'channel:' || c.id
   where c.charged_micro + c.reserved_micro <> coalesce(v.micro, 0)
  union all
  select 'charge_differs', v.id, v.status || ', charged ' || coalesce(g.charged_micro::text, 'nothing yet') || ', costs ' || coalesce(v.cost_micro, 0)
    from channel_charge g join invocation v on v.id = g.request_id left join transfer b on b.id = 'bill_return:' || v.id
   where (g.ended_at is null) <> (v.completed_at is null)
      or g.charged_micro is distinct from case when v.completed_at is null then null else coalesce(v.cost_micro, 0) + coalesce(b.amount_micro, 0) end
  union all
  select 'charges_differ', c.id, 'charged ' || c.charged_micro || ', its calls ' || coalesce(sum(g.charged_micro), 0)
    from channel c left join channel_charge g on g.channel_id = c.id group by c.id having c.charged_micro < coalesce(sum(g.charged_micro), 0)`;

/**
 * Contradictions between the records of requests and of money; empty when every balance is the sum of its movements and every request was
 * paid once or refunded. Pending refunds get a moment to arrive.
 */
export const contradictions = (databaseUrl: string): Promise<string[]> =>
  withDatabaseOf(databaseUrl, async (db) => {
    // Prepared: planning them takes longer than reading the few rows of a test.
    const ask = (name: string, text: string) => db.query<{ kind: string; subject: string; detail: string }>(name, text);
    const look = async () => [
      ...(await findMoneyContradictions({ db })),
      ...(await ask('test-figures', FIGURES)),
      ...(await ask('test-use', USE)),
      ...(await ask('test-channels', CHANNELS)),
    ];
    let found = await look();
    const none = async () => {
      found = await look();
      return found.length === 0;
    };
    if (found.length > 0) await until(none).catch(() => undefined);
    return found.map(({ kind, subject, detail }) => `${kind}: ${subject} ${detail}`);
  });

/** Balance that the node's wallet must have on chain by its books. */
export async function walletByBooks(databaseUrl: string): Promise<bigint> {
  const [row] = await askDatabase<{ micro: string }>(databaseUrl, WALLET);
  return BigInt(row?.micro ?? 0);
}
