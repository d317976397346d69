-- What the node earns, and what it lost to the chain taking back what was spent already: its own, like wallet and outgoing.
alter table ledger_account drop constraint ledger_account_kind_check;
alter table ledger_account add constraint ledger_account_kind_check
  check (kind in ('treasury', 'agent', 'payer', 'suspense', 'wallet', 'outgoing', 'fees', 'loss'));
insert into ledger_account (id, kind, created_at)
values ('fees', 'fees', now()), ('loss', 'loss', now()) on conflict do nothing;
alter table transfer drop constraint transfer_kind_check;
alter table transfer add constraint transfer_kind_check
  check (kind in ('deposit', 'charge', 'fee', 'refund', 'payout', 'withdrawal', 'return', 'reversal', 'claim'));

-- Statements: the transfers of an account whose balance is kept are numbered 1, 2, 3 … under the lock of its row, and each knows the
-- balance that it left. Their times never go back within an account, so that a period is a range of numbers.
alter table ledger_account
  add column entries bigint not null default 0,
  add column last_entry_at timestamptz;
alter table transfer
  add column debit_sequence bigint,
  add column debit_balance_micro bigint,
  add column credit_sequence bigint,
  add column credit_balance_micro bigint;

create temporary table entry on commit drop as
  select side.*, row_number() over account_in_order as sequence, sum(amount) over account_in_order as balance
    from (
      select id as transfer_id, 'debit' as part, debit as account, -amount_micro as amount, created_at from transfer
      union all
      select id, 'credit', credit, amount_micro, created_at from transfer
    ) side join ledger_account a on a.id = side.account
   where a.kind in ('treasury', 'agent', 'payer', 'suspense')
  window account_in_order as (partition by account order by side.created_at, transfer_id);
update transfer t set debit_sequence = e.sequence, debit_balance_micro = e.balance from entry e
 where e.transfer_id = t.id and e.part = 'debit';
update transfer t set credit_sequence = e.sequence, credit_balance_micro = e.balance from entry e
 where e.transfer_id = t.id and e.part = 'credit';
update ledger_account a set entries = e.entries, last_entry_at = e.last
  from (select account, count(*) as entries, max(created_at) as last from entry group by account) e where a.id = e.account;

-- The node's own accounts, which take part in nearly every transfer, are in no index.
drop index transfer_debit;
drop index transfer_credit;
create index transfer_debit on transfer (debit, created_at, debit_sequence) where debit_sequence is not null;
create index transfer_credit on transfer (credit, created_at, credit_sequence) where credit_sequence is not null;

-- What all accounts of a kind hold together, as changes that are appended by whoever moves money, and folded: nobody waits for a row
-- that everybody writes, and the sum is exact in every snapshot.
create table ledger_total (
  kind text not null check (kind in ('treasury', 'agent', 'payer', 'suspense', 'wallet', 'outgoing', 'fees', 'loss')),
  change_micro bigint not null,
  is_folded boolean not null default false
);
insert into ledger_total (kind, change_micro, is_folded)
select a.kind, sum(side.amount), true
  from (
    select debit as account, -amount_micro as amount from transfer union all select credit, amount_micro from transfer
  ) side join ledger_account a on a.id = side.account
 group by a.kind having sum(side.amount) <> 0;

-- When a hold must have ended: a while after the deadline of its request.
alter table hold add column expires_at timestamptz;
update hold h set expires_at = coalesce((select deadline from invocation v where v.id = h.id), h.created_at) + interval '15 minutes';
alter table hold alter column expires_at set not null;
drop index hold_open;
create index hold_open on hold (expires_at) where ended_at is null;

-- For how many checks in a row the chain has contradicted the books, and whether its operators were told.
create table reserves_watch (
  only_row boolean primary key default true check (only_row),
  drifted_checks integer not null,
  is_told boolean not null
);
insert into reserves_watch (drifted_checks, is_told) values (0, false);

-- How far the audit of the books has come: by request, and round and round by account.
create table money_audit (
  only_row boolean primary key default true check (only_row),
  request_id text not null,
  account_id text not null
);
insert into money_audit (request_id, account_id) values ('', '');
