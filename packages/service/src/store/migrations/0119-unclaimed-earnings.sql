-- Earned by calls that vouchers paid and that are not claimed yet: held back, as the payer may still take its deposit.
create table channel_earning (
  channel_id text not null references channel (id),
  ledger_account_id text not null,
  micro bigint not null check (micro > 0),
  primary key (channel_id, ledger_account_id)
);
create index channel_earning_account on channel_earning (ledger_account_id);
comment on table channel_earning is
  'What an account has earned by calls of a channel, as far as claims do not cover it: at most what the channel owes unclaimed. Held by the account; of the fees, not withdrawable.';

alter table channel add column billed_micro bigint not null default 0 check (billed_micro >= 0);
comment on column channel.billed_micro is
  'Bills of agents and homes that were signed for calls in flight: paid out, so claimed first. A part of reserved_micro.';
alter table channel add column checked_at timestamptz;
comment on column channel.checked_at is 'When the contract was last asked about the channel.';
alter table channel_charge add column billed_micro bigint not null default 0 check (billed_micro >= 0);

-- What a payer owes by all its channels bounds what is taken of it without a look at the chain.
create index channel_under_way_of_payer on channel (payer) where is_under_way;
