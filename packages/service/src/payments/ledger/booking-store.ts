import type { LockMode } from '../../store/lock-free.ts';
import { plainSql } from './asset-account.ts';

const isKept = `kind in ('treasury', 'agent', 'payer', 'suspense', 'channel')`;

/**
 * Locks the kept-balance accounts of a statement in id order, so that batches cannot deadlock. `ids` is a query; as an array, its result is
 * looked up in the index, however many accounts there are.
 */
export const lockedAccounts = (ids: string, locks: LockMode = 'wait') =>
  `locked as materialized (
     select id, kind, posted_micro, held_micro, entries, last_entry_at from ledger_account where id = any(array(${ids})) and ${isKept} order by id ${lockClause(locks)}
   )`;

/** SQL lock clause. With `skip`, it passes over locked rows; use it after a `lockFree`, which throws for them. */
export const lockClause = (locks: LockMode): string => `for no key update${locks === 'skip' ? ' skip locked' : ''}`;

/** Each text has a name of its own. */
export const nameFor = (name: string, locks: LockMode): string => (locks === 'skip' ? `${name}-free` : name);

/**
 * Final part of every statement that moves money. It expects the CTEs `locked`; `movement` (turn, id, debit, credit, amount, kind,
 * subject), each row of which becomes a transfer; and `freed` (account, amount), released from holds. Under the locks, transfers are
 * numbered within each account: credits of the statement first, so that no intermediate balance is below the final one. Time never
 * decreases within an account. A missing account violates the check on the kind of its total. New balances are computed from the locked
 * rows: PostgreSQL checks a row's constraints first against the version at the start of the statement, and would refuse money that another
 * transaction has added since.
 */
export const booking = (now: string) => `
  side as (
    select m.turn, m.id, m.debit, m.credit, m.amount as moved, m.kind as cause, m.subject,
           s.part, s.account, s.amount, coalesce(l.kind, ${plainSql('s.account')}) as kind, nullif(split_part(s.account, '@', 2), '') as asset,
           l.entries + row_number() over entry as sequence, l.posted_micro + sum(s.amount) over entry as balance
      from movement m
     cross join lateral (values ('debit', m.debit, -m.amount), ('credit', m.credit, m.amount)) s (part, account, amount)
      left join locked l on l.id = s.account
    window entry as (partition by s.account order by s.amount < 0, m.turn)
  ), moment as (
    select greatest(${now}::timestamptz, max(last_entry_at)) as at from locked
  ), change as (
    select account, sum(posted)::bigint as posted, sum(held)::bigint as held, sum(entries)::bigint as entries from (
      select account, amount as posted, 0 as held, 1 as entries from side where sequence is not null
      union all
      select account, 0, -amount, 0 from freed
    ) part group by account
  ), moved as (
    update ledger_account a
       set posted_micro = l.posted_micro + c.posted, held_micro = l.held_micro + c.held, entries = l.entries + c.entries,
           last_entry_at = case when c.entries > 0 then moment.at else l.last_entry_at end
      from change c join locked l on l.id = c.account, moment where a.id = l.id
  ), totalled as (
    insert into ledger_total (kind, asset, change_micro)
    select kind, asset, sum(amount)::bigint from side group by kind, asset having sum(amount) <> 0
  )
  insert into transfer (id, debit, credit, amount_micro, kind, subject_id, created_at, debit_sequence, debit_balance_micro,
                        credit_sequence, credit_balance_micro)
  select id, debit, credit, moved, cause, subject, (select at from moment),
         max(sequence) filter (where part = 'debit'), max(balance) filter (where part = 'debit'),
         max(sequence) filter (where part = 'credit'), max(balance) filter (where part = 'credit')
    from side group by turn, id, debit, credit, moved, cause, subject`;
