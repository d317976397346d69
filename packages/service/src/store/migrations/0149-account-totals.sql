-- What each account did, in one row, so that an operator can list the accounts by it. Calls and amounts are added as they are folded
-- (calls/read/call-figure-store.ts); the balance and the last use of a key are brought up to date in turns (operator/account-totals.ts).
create table account_totals (
  account_id text primary key,
  calls bigint not null default 0,
  spent_micro bigint not null default 0,
  earned_micro bigint not null default 0,
  available_micro bigint not null default 0,
  seen_at timestamptz not null
);
comment on column account_totals.available_micro is 'Balance of its treasuries in the default asset, at most some minutes old: for the order of lists only';
comment on column account_totals.seen_at is 'Its last call or use of a key, to the minute; at first its opening. Whole seconds, as cursors have them';

insert into account_totals (account_id, calls, spent_micro, earned_micro, available_micro, seen_at)
select a.id, coalesce(used.calls, 0), coalesce(used.spent_micro, 0), coalesce(got.earned_micro, 0), coalesce(held.available_micro, 0),
       date_trunc('second', greatest(a.created_at, used.day, keys.used_at))
  from account a
  left join (select account_id, sum(calls) as calls, sum(spent_micro) as spent_micro, max(day) as day from agent_use group by 1) used
    on used.account_id = a.id
  left join (select subject_id, sum(amount_micro) as earned_micro from call_figure where side = 'received' and span = 'day' group by 1) got
    on got.subject_id = a.id
  left join (select account_id, sum(posted_micro - held_micro) as available_micro from ledger_account
              where kind in ('treasury', 'agent') and asset is null group by 1) held on held.account_id = a.id
  left join (select account_id, max(last_used_at) as used_at from api_key group by 1) keys on keys.account_id = a.id;

create index account_totals_calls on account_totals (calls, account_id);
create index account_totals_spent on account_totals (spent_micro, account_id);
create index account_totals_earned on account_totals (earned_micro, account_id);
create index account_totals_available on account_totals (available_micro, account_id);
create index account_totals_seen on account_totals (seen_at, account_id);

create function open_account_totals() returns trigger language plpgsql as $$
begin
  insert into account_totals (account_id, seen_at) values (new.id, date_trunc('second', new.created_at)) on conflict do nothing;
  return null;
end $$;
create trigger account_totals_opened after insert on account for each row execute function open_account_totals();
