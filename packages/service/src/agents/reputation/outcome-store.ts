import type { Sql } from '../../store/sql.ts';

export interface Counting {
  readonly limit: number;
  readonly fullMicro: bigint;
  readonly enoughOwners: number;
  /** True when outcomes with a payment on chain may become feedback. */
  readonly givesFeedback: boolean;
  readonly pace: Pace;
  readonly now: Date;
}

/**
 * Age at which a reputation is due again: `msPerRecord` for each record beyond `quickRecords`. One computed by an earlier version of this
 * code has no record count and is due at once.
 */
export interface Pace {
  readonly quickRecords: number;
  readonly msPerRecord: number;
}

export const HAS_UNCOUNTED = 'exists (select from outcome_due)';

/**
 * Counts at most `limit` uncounted outcomes and returns their number. Makes the affected reputations due, at the given pace, and expires
 * the histories of payers below full credibility. The sums do not depend on the order. Calls that a faucet paid are of no payer: anyone makes
 * them.
 */
export async function countOutcomes(
  sql: Sql,
  { limit, fullMicro, enoughOwners, givesFeedback, pace, now }: Counting,
): Promise<number> {
  const [row] = await sql.query<{ outcomes: bigint }>(
    'count-outcomes',
    `with gone as (
       delete from outcome_due where ctid = any(array(select ctid from outcome_due limit $1 for update skip locked))
       returning request_id
     ), fresh as (
       select o.* from gone join outcome o using (request_id) where o.wallet not in (select address from faucet_wallet)
     ), days as (
       insert into outcome_day as d (agent_id, account_id, wallet, day, good_micro, bad_micro, good_calls, bad_calls)
       select agent_id, account_id, wallet, (ended_at at time zone 'utc')::date as day,
              coalesce(sum(least(amount_micro, $2)) filter (where is_good), 0),
              coalesce(sum(least(amount_micro, $2)) filter (where not is_good), 0),
              count(*) filter (where is_good), count(*) filter (where not is_good)
         from fresh group by 1, 2, 3, 4 order by agent_id, day, account_id, wallet
       on conflict (agent_id, day, account_id, wallet) do update
          set good_micro = d.good_micro + excluded.good_micro, bad_micro = d.bad_micro + excluded.bad_micro,
              good_calls = d.good_calls + excluded.good_calls, bad_calls = d.bad_calls + excluded.bad_calls
     ), paid as (
       insert into payer_agent as p (account_id, agent_id, paid_micro, first_paid_at)
       select account_id, agent_id, sum(amount_micro), min(ended_at) from fresh where is_good
        group by 1, 2 order by account_id, agent_id
       on conflict (account_id, agent_id) do update
          set paid_micro = p.paid_micro + excluded.paid_micro, first_paid_at = least(p.first_paid_at, excluded.first_paid_at)
     ), wallets as (
       insert into payer_wallet (account_id, wallet) select distinct account_id, wallet from fresh where wallet <> '' order by 1, 2
       on conflict do nothing
     ), payees as (
       insert into agent_payee (agent_id, wallet)
       select distinct f.agent_id, b.to_address from fresh f
         join chain_payment b on b.subject_id = f.request_id and b.purpose = 'bill' order by 1, 2
       on conflict do nothing
     ), due as (
       insert into agent_reputation as r (agent_id, due_at) select distinct agent_id, $3::timestamptz from fresh order by 1
       on conflict (agent_id) do update
          set due_at = least(r.due_at, greatest(excluded.due_at, r.computed_at + nullif(
                greatest(0, (r.parts->'outcomes'->>'records')::bigint - $6), 0) * $7::int * interval '1 millisecond'))
     ), feedback as (
       insert into feedback_due (request_id) select request_id from fresh f
        where $5 and exists (select from chain_payment p where p.subject_id = f.request_id and p.purpose in ('invocation', 'bill'))
     ), outdated as (
       delete from payer where account_id in (select account_id from fresh) and breadth < $4
     )
     select count(*) as outcomes from fresh`,
    [limit, fullMicro, now, enoughOwners, givesFeedback, pace.quickRecords, pace.msPerRecord],
  );
  return Number(row?.outcomes ?? 0);
}
