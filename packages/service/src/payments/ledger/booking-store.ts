const isKept = `kind in ('treasury', 'agent', 'payer', 'suspense')`;

/**
 * The accounts of a statement whose balance is kept, locked in the order of their ids: batches can't wait for each other in a circle.
 * `ids` is a query; as an array its answer is looked up in the index, however many accounts there are.
 */
export const lockedAccounts = (ids: string) =>
  `locked as materialized (
     select id, kind, posted_micro, held_micro, entries, last_entry_at from ledger_account where id = any(array(${ids})) and ${isKept} order by id for update
   )`;

/**
 * How every statement that moves money ends. Before it stand `locked`; `movement` (turn, id, debit, credit, amount, kind, subject),
 * each of which becomes a transfer; and `freed` (account, amount), of what was held. Under the locks, transfers are numbered within each
 * account: credits of the statement first, so that no balance on the way is below the last. Time does not go back within an account.
 * An account that does not exist breaks the check on the kind of its total.
 *
 * New balances come from the rows as they were locked: PostgreSQL checks the constraints of a row first against the version that the
 * statement saw when it began, and would refuse money that another transaction has brought meanwhile.
 */
export const booking = (now: string) => `
  side as (
    select m.turn, m.id, m.debit, m.credit, m.amount as moved, m.kind as cause, m.subject,
           s.part, s.account, s.amount, coalesce(l.kind, s.account) as kind,
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
    insert into ledger_total (kind, change_micro)
    select kind, sum(amount)::bigint from side group by kind having sum(amount) <> 0
  )
  insert into transfer (id, debit, credit, amount_micro, kind, subject_id, created_at, debit_sequence, debit_balance_micro,
                        credit_sequence, credit_balance_micro)
  select id, debit, credit, moved, cause, subject, (select at from moment),
         max(sequence) filter (where part = 'debit'), max(balance) filter (where part = 'debit'),
         max(sequence) filter (where part = 'credit'), max(balance) filter (where part = 'credit')
    from side group by turn, id, debit, credit, moved, cause, subject`;
