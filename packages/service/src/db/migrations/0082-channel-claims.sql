-- Claims of vouchers, sweeps into the wallet and cooperative refunds of channels (issue 15, decision 28).

-- Booked as lost: charged, and never to be claimed any more.
alter table channel add column lost_micro bigint not null default 0 check (lost_micro >= 0);
-- Number of bookings of claims and losses: makes the ids of their transfers unique.
alter table channel add column booking integer not null default 0;
-- The cooperative refund under way: no voucher is taken meanwhile; null: none.
alter table channel add column refund_id text;
create index channel_unclaimed on channel (chain_id, id) where charged_micro > claimed_micro + lost_micro;
create index channel_under_way on channel (chain_id, id) where charged_micro + reserved_micro <> claimed_micro + lost_micro;

-- A transaction that claims vouchers of channels and sweeps the claimed money, or that refunds a channel. Its bytes are in chain_transaction.
create table channel_claim (
  id text primary key,
  chain_id integer not null,
  reason text not null check (reason in ('threshold', 'age', 'payout', 'stop', 'withdrawal', 'refund')),
  -- sent: written down, and not known to be mined. failed: reverted, or never to be mined.
  state text not null default 'sent' check (state in ('sent', 'done', 'failed')),
  transaction_hash text not null,
  block_number bigint,
  block_hash text,
  created_at timestamptz not null,
  ended_at timestamptz,
  check ((state = 'sent') = (ended_at is null))
);
create index channel_claim_open on channel_claim (chain_id) where state = 'sent';
create index channel_claim_block on channel_claim (chain_id, block_number) where state = 'done';
create index channel_claim_ended on channel_claim (ended_at) where state <> 'sent';

create table channel_claim_row (
  claim_id text not null references channel_claim on delete cascade,
  channel_id text not null references channel,
  -- The voucher, public from now on.
  max_micro bigint not null,
  -- What it claims in total; claims are cumulative.
  total_micro bigint not null check (total_micro <= max_micro),
  is_open boolean not null default true,
  primary key (claim_id, channel_id)
);
-- A channel is in one open transaction at a time.
create unique index channel_claim_row_open on channel_claim_row (channel_id) where is_open;

create table channel_refund (
  id text primary key,
  channel_id text not null references channel,
  -- Identity of the payload: shown again, it gets the same answer.
  payload_key text not null,
  amount_micro bigint not null check (amount_micro > 0),
  -- Nonce of the refund in the contract, which takes it once.
  nonce bigint not null,
  -- Network address that asked for it.
  client text,
  claim_id text not null references channel_claim,
  state text not null default 'sent' check (state in ('sent', 'done', 'failed')),
  -- What the chain gave back; null: not known yet.
  refunded_micro bigint,
  created_at timestamptz not null,
  ended_at timestamptz
);
create unique index channel_refund_payload on channel_refund (channel_id, payload_key) where state <> 'failed';
create index channel_refund_claim on channel_refund (claim_id);
create index channel_refund_created on channel_refund (created_at);

-- What the contract says of the node's wallet as receiver, as far as it is booked.
create table channel_receiver (
  chain_id integer not null,
  receiver text not null,
  -- Claimed for it by channels that the node does not know: a gift, kept in suspense.
  foreign_micro bigint not null,
  -- Swept into the wallet.
  settled_micro bigint not null,
  booking integer not null default 0,
  -- The block that was booked last.
  block_number bigint not null,
  block_hash text not null,
  primary key (chain_id, receiver)
);
