import type { Sql } from '../../store/sql.ts';

/** Contradictions that the audit looks for, here and in channels. */
export const contradictionKinds = [
  'ended_with_hold',
  'completed_without_capture',
  'capture_differs',
  'refund_differs',
  'refund_without_payment',
  'voucher_differs',
  'balance_differs',
  'held_differs',
  'negative_balance',
  'total_differs',
  'sum_differs',
  'unknown_account',
  'entry_differs',
  'hold_without_request',
  'channels_differ',
  'claims_differ',
  'reserved_differs',
  'channel_account_differs',
  'billed_differs',
] as const;

/** A contradiction between the records of requests and of money; exists only when the node is at fault. */
export interface Contradiction {
  readonly kind: (typeof contradictionKinds)[number];
  /** The request or ledger account. */
  readonly subject: string;
  readonly detail: string;
}

/** A range of ledger accounts in the order of ids: those after one, up to a limit. */
export interface AuditRange {
  readonly after: string;
  /** Exclusive upper bound of ids; null: none. */
  readonly before: string | null;
  readonly limit: number;
}

/** Accounts of the node itself: no balance of theirs is stored. */
const OWN = `'wallet', 'vouchers', 'claimed', 'outgoing', 'fees', 'loss'`;

/** `@` and an asset; empty for the default one, so that joins find it. */
const SUFFIX = `coalesce('@' || asset, '') as asset`;

/** Transfers that return a bill: in full because the agent did not collect it, or as a refund of its home node. */
const RETURNS = `'bill_return:' || r.id, 'home_refund:' || r.id, 'home_return:' || r.id`;
/** Amount taken from the payer for a request: charged, or owed to an agent that bills directly, less returns. */
const BOOKED = `(select sum(case when t.debit = r.payer_ledger_id then t.amount_micro when t.credit = r.payer_ledger_id then -t.amount_micro end)
                   from transfer t where t.id in ('charge:' || r.id, 'bill:' || r.id, ${RETURNS}))`;
const UNBILLED = `(select sum(t.amount_micro) from transfer t where t.id in (${RETURNS}))`;
const REFUNDED = `coalesce((select sum(t.amount_micro) from transfer t where t.id in ('refund:' || r.id, 'refund:' || r.id || ':return', 'refund:' || r.id || ':second_return')), 0)`;

/** Each of the selected ended requests was paid for once or refunded, and has no open hold. */
const ofRequests = (which: string) => `
  with request as (
    select id, status, scheme, payer_ledger_id, coalesce(cost_micro, 0) as cost
      from invocation where ${which} and completed_at is not null
  ), paid as (
    select r.*, h.id is not null as has_hold, h.ended_at, coalesce(h.captured_micro, 0) - coalesce(${UNBILLED}, 0) as captured, coalesce(${BOOKED}, 0) as booked
      from request r left join hold h on h.id = r.id where r.payer_ledger_id is not null
  )
  select 'ended_with_hold' as kind, r.id as subject, 'is ' || status || ', and its money is still held' as detail
    from paid r where has_hold and ended_at is null
  union all
  select case status when 'completed' then 'completed_without_capture' else 'capture_differs' end, r.id,
         'is ' || status || ' and costs ' || cost || '; captured were ' || captured || ', booked ' || booked
    from paid r where not (has_hold and ended_at is null) and (captured <> cost or booked <> cost)
  union all
  select 'refund_differs', r.id, 'of ' || p.value_micro || ' it cost ' || cost || '; ' || ${REFUNDED} || ' went back'
    from paid r join chain_payment p on p.subject_id = r.id and p.purpose = 'invocation'
   where r.scheme = 'exact' and p.state = 'settled' and ${REFUNDED} <> p.value_micro - cost
  union all
  select 'refund_without_payment', r.id, 'its payment is ' || coalesce(p.state, 'unknown') || '; ' || ${REFUNDED} || ' went back'
    from paid r left join chain_payment p on p.subject_id = r.id and p.purpose = 'invocation'
   where r.scheme <> 'batch-settlement' and ${REFUNDED} > 0 and p.state is distinct from 'settled' and p.state is distinct from 'reversed'
  union all
  select 'voucher_differs', r.id, 'costs ' || cost || '; of its voucher were charged ' || coalesce(g.charged_micro::text, 'nothing yet')
    from paid r join channel_charge g on g.request_id = r.id where g.charged_micro is null or g.charged_micro < cost`;

/** Contradictions between ended requests and the ledger; null: all requests. */
export const findRequestContradictions = (sql: Sql, ids: readonly string[] | null): Promise<Contradiction[]> =>
  ids === null
    ? sql.query<Contradiction>('find-contradictions-of-all', ofRequests('true'))
    : sql.query<Contradiction>('find-request-contradictions', ofRequests('id = any($1)'), [ids]);

/** Stored balances that differ from the last entry of their account, and held amounts that differ from open holds and unclaimed earnings. */
export const findAccountContradictions = (sql: Sql, range: AuditRange): Promise<Contradiction[]> =>
  sql.query<Contradiction>(
    'find-account-contradictions',
    `with account as (
       select id, posted_micro, held_micro, entries from ledger_account
        where id > $1 and ($2::text is null or id < $2) and kind not in (${OWN}) order by id limit $3
     ), seen as (
       select a.*, greatest(coalesce(d.sequence, 0), coalesce(c.sequence, 0)) as last,
              case when coalesce(d.sequence, 0) > coalesce(c.sequence, 0) then d.balance else coalesce(c.balance, 0) end as balance,
              coalesce(h.held, 0) + coalesce(e.held, 0) as held
         from account a
         left join lateral (select debit_sequence as sequence, debit_balance_micro as balance from transfer
                             where debit = a.id and debit_sequence is not null
                             order by created_at desc, debit_sequence desc limit 1) d on true
         left join lateral (select credit_sequence as sequence, credit_balance_micro as balance from transfer
                             where credit = a.id and credit_sequence is not null
                             order by created_at desc, credit_sequence desc limit 1) c on true
         left join (select ledger_account_id, sum(amount_micro) as held from hold where ended_at is null group by 1) h
           on h.ledger_account_id = a.id
         left join (select ledger_account_id, sum(micro) as held from channel_earning group by 1) e on e.ledger_account_id = a.id
     )
     select 'balance_differs' as kind, id as subject,
            'holds ' || posted_micro || ' after ' || entries || ' entries; its last, ' || last || ', left ' || balance as detail
       from seen where posted_micro <> balance or entries <> last
     union all
     select 'held_differs', id, 'holds back ' || held_micro || ' for open holds and unclaimed earnings of ' || held from seen where held_micro <> held
     union all
     select 'negative_balance', id, 'holds ' || posted_micro || ', of that held ' || held_micro from seen
      where posted_micro < 0 or held_micro < 0 or held_micro > posted_micro`,
    [range.after, range.before, range.limit],
  );

/** The last account of a range; null: the range is empty. */
export async function findLastAccount(sql: Sql, range: AuditRange): Promise<string | null> {
  const [row] = await sql.query<{ id: string | null }>(
    'find-last-account',
    `select max(id) as id from (
       select id from ledger_account where id > $1 and ($2::text is null or id < $2) order by id limit $3
     ) account`,
    [range.after, range.before, range.limit],
  );
  return row?.id ?? null;
}

/** Stored totals by kind of account that differ from the accounts: reads every account. */
export const findTotalContradictions = (sql: Sql): Promise<Contradiction[]> =>
  sql.query<Contradiction>(
    'find-total-contradictions',
    `select 'total_differs' as kind, kind || asset as subject,
            'accounts hold ' || coalesce(a.amount, 0) || ', the total kept is ' || coalesce(t.amount, 0) as detail
       from (select kind, ${SUFFIX}, sum(posted_micro) as amount from ledger_account
              where kind not in (${OWN}) group by 1, 2) a
       full join (select kind, ${SUFFIX}, sum(change_micro) as amount from ledger_total
                   where kind not in (${OWN}) group by 1, 2) t using (kind, asset)
      where coalesce(a.amount, 0) <> coalesce(t.amount, 0)`,
  );

/** Stored totals that differ from the accounts and transfers, and broken links in the chains of entries: reads all rows. */
export const findLedgerContradictions = (sql: Sql): Promise<Contradiction[]> =>
  sql.query<Contradiction>(
    'find-ledger-contradictions',
    `with side as (
       select id, debit as account, -amount_micro as amount, debit_sequence as sequence, debit_balance_micro as balance, created_at
         from transfer
       union all
       select id, credit, amount_micro, credit_sequence, credit_balance_micro, created_at from transfer
     ), summed as (
       select account, sum(amount) as amount, count(sequence) as entries from side group by account
     ), by_kind as (
       select a.kind, coalesce('@' || a.asset, '') as asset, sum(s.amount) as amount, sum(a.posted_micro) as posted
         from summed s join ledger_account a on a.id = s.account group by 1, 2
     ), linked as (
       select side.*, lag(balance, 1, 0::bigint) over entry as before, lag(sequence, 1, 0::bigint) over entry as previous,
              lag(created_at) over entry as previous_at
         from side where sequence is not null window entry as (partition by account order by sequence)
     )
     select 'sum_differs' as kind, a.id as subject, 'holds ' || a.posted_micro || '; its transfers make ' || coalesce(s.amount, 0) as detail
       from ledger_account a left join summed s on s.account = a.id
      where a.kind not in (${OWN})
        and (a.posted_micro <> coalesce(s.amount, 0) or a.entries <> coalesce(s.entries, 0))
     union all
     select 'unknown_account', s.account, 'has transfers but does not exist' from summed s
      where not exists (select from ledger_account a where a.id = s.account)
     union all
     select 'total_differs', kind || asset, 'transfers make ' || coalesce(k.amount, 0) || ', the total kept is ' || coalesce(t.amount, 0)
       from by_kind k full join (select kind, ${SUFFIX}, sum(change_micro) as amount from ledger_total group by 1, 2) t using (kind, asset)
      where coalesce(k.amount, 0) <> coalesce(t.amount, 0)
     union all
     select 'entry_differs', account, 'entry ' || sequence || ' (' || id || ') of ' || amount || ' left ' || balance || ' after ' || before
       from linked where balance <> before + amount or sequence <> previous + 1 or created_at < previous_at or balance < 0`,
  );

/** Open holds without a request: a hold and its request are stored in one transaction. Holds of withdrawals exist for moments. */
export const findHoldContradictions = (sql: Sql): Promise<Contradiction[]> =>
  sql.query<Contradiction>(
    'find-hold-contradictions',
    `select 'hold_without_request' as kind, h.id as subject, 'holds ' || h.amount_micro || ' for a request that is not' as detail
       from hold h where h.ended_at is null and h.id not like 'wdr\\_%' and not exists (select from invocation v where v.id = h.id) limit 1000`,
  );

/** Tokens by the suffix of their ledger accounts; one that no process has registered is the default asset. */
const NETWORK = `select chain_id, token, token_key, case when is_default then '' else '@' || id end as asset from asset`;

/**
 * Contradictions between channels and the ledger, in each asset: vouchers owed and unswept claims must equal the sums of the channels; the
 * reserved amount of a channel must equal its running calls, and its account must hold no more than that.
 */
export const findChannelContradictions = (sql: Sql): Promise<Contradiction[]> =>
  sql.query<Contradiction>(
    'find-channel-contradictions',
    `with network as (
       ${NETWORK}
     ), total as (
       select kind, coalesce('@' || asset, '') as asset, -sum(change_micro) as micro from ledger_total
        where kind in ('vouchers', 'claimed') group by 1, 2
     ), channels as (
       select coalesce(n.asset, '') as asset, sum(charged_micro + reserved_micro - claimed_micro - lost_micro) as vouchers,
              sum(claimed_micro) as claimed
         from channel left join network n using (chain_id, token) group by 1
     ), receivers as (
       select coalesce(n.asset, '') as asset, sum(foreign_micro - settled_micro) as micro, sum(known_micro) as known
         from channel_receiver r left join network n on n.chain_id = r.chain_id and n.token_key = r.token group by 1
     ), expected as (
       select 'vouchers' as kind, asset, vouchers as micro from channels
       union all
       select 'claimed', asset, sum(micro) from (
         select asset, claimed as micro from channels union all select asset, micro from receivers) part group by asset
     ), in_flight as (
       select channel_id, sum(amount_micro) as micro, sum(billed_micro) as billed from channel_charge where ended_at is null group by 1
     )
     select 'channels_differ' as kind, kind || asset as subject,
            'the channels make ' || coalesce(e.micro, 0) || ', the ledger has ' || coalesce(t.micro, 0) as detail
       from expected e full join total t using (kind, asset) where coalesce(e.micro, 0) <> coalesce(t.micro, 0)
     union all
     select 'claims_differ', 'channels' || asset,
            'of the channels are ' || coalesce(claimed, 0) || ' claimed, the receiver knows ' || coalesce(known, 0)
       from channels full join receivers using (asset) where coalesce(claimed, 0) <> coalesce(known, 0)
     union all
     select 'reserved_differs', c.id, 'has reserved ' || c.reserved_micro || ' for calls in flight of ' || coalesce(f.micro, 0)
       from channel c left join in_flight f on f.channel_id = c.id where c.reserved_micro <> coalesce(f.micro, 0)
     union all
     select 'channel_account_differs', c.id, 'has reserved ' || c.reserved_micro || ', its account holds ' || a.posted_micro
       from channel c left join network n using (chain_id, token)
       join ledger_account a on a.id = 'channel:' || c.id || coalesce(n.asset, '') where a.posted_micro > c.reserved_micro
     union all
     select 'billed_differs', c.id, 'has paid bills of ' || c.billed_micro || ' for calls in flight, which have ' || coalesce(f.billed, 0)
       from channel c left join in_flight f on f.channel_id = c.id where c.billed_micro <> coalesce(f.billed, 0)`,
  );
