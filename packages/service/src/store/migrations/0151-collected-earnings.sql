-- Earnings of agents that their owner moves to the account's treasury.
alter table transfer drop constraint transfer_kind_check, add constraint transfer_kind_check check (kind in (
  'deposit', 'charge', 'fee', 'refund', 'payout', 'withdrawal', 'return', 'reversal', 'claim', 'bill', 'bill_return', 'fee_payout',
  'voucher', 'voucher_release', 'voucher_claim', 'sweep', 'voucher_loss', 'collect')) not valid;
create index transfer_collect on transfer (debit) where kind = 'collect';

create table balance_alert (
  account_id text primary key references account (id),
  below_micro bigint not null check (below_micro > 0),
  is_told boolean not null default false
);
comment on table balance_alert is 'Accounts that want to be told when less than this is left to spend in the default asset';
comment on column balance_alert.is_told is 'True from the event balance.low until there is enough again';
