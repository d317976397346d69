-- Double entry in micro-USDC. An account's balance is its credits less its debits; `held_micro` is set aside for running work.
-- `posted_micro` is kept for accounts that authorise spending. The node's own accounts (wallet, outgoing) take part in
-- every movement; a kept balance would make all payments wait for one row, so theirs is the sum of their transfers.
create table ledger_account (
  id text primary key,
  kind text not null check (kind in ('treasury', 'agent', 'payer', 'wallet', 'outgoing')),
  account_id text references account,
  agent_id text references agent,
  address text,
  label text,
  posted_micro bigint not null default 0,
  held_micro bigint not null default 0,
  created_at timestamptz not null,
  check (held_micro >= 0 and posted_micro >= held_micro)
) with (fillfactor = 50);
create unique index ledger_account_treasury on ledger_account (account_id) where kind = 'treasury';
create unique index ledger_account_agent on ledger_account (agent_id) where kind = 'agent';
create unique index ledger_account_payer on ledger_account (address) where kind = 'payer';

insert into ledger_account (id, kind, created_at)
values ('wallet', 'wallet', now()), ('outgoing', 'outgoing', now());

-- Append-only. The id names the cause, so the same cause cannot move money twice.
create table transfer (
  id text primary key,
  debit text not null,
  credit text not null,
  amount_micro bigint not null check (amount_micro > 0),
  kind text not null check (kind in ('deposit', 'charge', 'refund', 'payout')),
  subject_id text not null,
  created_at timestamptz not null,
  check (debit <> credit)
);
create index transfer_debit on transfer (debit, created_at);
create index transfer_credit on transfer (credit, created_at);

create table hold (
  id text primary key,
  ledger_account_id text not null,
  amount_micro bigint not null check (amount_micro > 0),
  captured_micro bigint check (captured_micro between 0 and amount_micro),
  created_at timestamptz not null,
  ended_at timestamptz,
  check ((captured_micro is null) = (ended_at is null))
) with (fillfactor = 80);
create index hold_open on hold (ledger_account_id) where ended_at is null;
