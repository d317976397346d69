-- Channels of the x402 scheme `batch-settlement`: deposits on chain, of which calls are paid by signed vouchers (issue 15, decision 28).

-- The counterpart of what is owed to the node: by vouchers that are not claimed, and by claims that are not swept into the wallet.
-- `channel` accounts carry the charge of a call from its admission to its end.
alter table ledger_account drop constraint ledger_account_kind_check;
alter table ledger_account add constraint ledger_account_kind_check
  check (kind in ('treasury', 'agent', 'payer', 'suspense', 'channel', 'wallet', 'vouchers', 'claimed', 'outgoing', 'fees', 'loss'));
alter table ledger_total drop constraint ledger_total_kind_check;
alter table ledger_total add constraint ledger_total_kind_check
  check (kind in ('treasury', 'agent', 'payer', 'suspense', 'channel', 'wallet', 'vouchers', 'claimed', 'outgoing', 'fees', 'loss'));
alter table transfer drop constraint transfer_kind_check;
alter table transfer add constraint transfer_kind_check
  check (kind in ('deposit', 'charge', 'fee', 'refund', 'payout', 'withdrawal', 'return', 'reversal', 'claim', 'bill', 'bill_return', 'fee_payout',
                  'voucher', 'voucher_release', 'voucher_claim', 'sweep', 'voucher_loss'));

create table channel (
  -- EIP-712 digest of the configuration, in lower case.
  id text primary key,
  chain_id integer not null,
  payer text not null,
  payer_authorizer text not null,
  receiver text not null,
  receiver_authorizer text not null,
  token text not null,
  withdraw_delay_s integer not null,
  salt text not null,
  -- By the chain, as deep as its amounts ask for: deposits less refunds and withdrawals; claims do not lower it.
  balance_micro bigint not null default 0 check (balance_micro >= 0),
  -- By the chain: total of all claims.
  claimed_micro bigint not null default 0 check (claimed_micro >= 0),
  -- Sum of ended calls. Never falls.
  charged_micro bigint not null default 0 check (charged_micro >= 0),
  -- Sum of calls in flight.
  reserved_micro bigint not null default 0 check (reserved_micro >= 0),
  -- The highest voucher.
  signed_micro bigint not null default 0,
  signature text,
  -- The highest voucher that stands in a claim: anybody can show it.
  published_micro bigint not null default 0,
  refund_nonce bigint not null default 0,
  -- The payer has begun to withdraw: no voucher is taken any more; null: not.
  withdraw_requested_at timestamptz,
  created_at timestamptz not null,
  changed_at timestamptz not null,
  check (charged_micro + reserved_micro <= signed_micro)
);
create index channel_payer on channel (payer, created_at);

-- A call that is paid by a voucher.
create table channel_charge (
  request_id text primary key,
  channel_id text not null references channel,
  amount_micro bigint not null check (amount_micro > 0),
  -- The voucher that came with it.
  max_micro bigint not null,
  signature text not null,
  -- What was charged in the end; null: in flight.
  charged_micro bigint check (charged_micro between 0 and amount_micro),
  created_at timestamptz not null,
  ended_at timestamptz,
  check ((charged_micro is null) = (ended_at is null))
);
create index channel_charge_channel on channel_charge (channel_id, max_micro);

-- A deposit is a payment on chain of its own purpose.
alter table chain_payment drop constraint chain_payment_purpose_check;
alter table chain_payment add constraint chain_payment_purpose_check
  check (purpose in ('invocation', 'deposit', 'refund', 'withdrawal', 'bill', 'return', 'home_refund', 'home_return', 'second_return', 'channel_deposit'));
alter table chain_payment add column channel_id text references channel;
-- Salt of the deposit's authorization nonce.
alter table chain_payment add column deposit_salt text;
