-- Every movement of USDC on chain is an EIP-3009 authorization: signed by a payer (in) or by the node (out).
-- (chain, token, from, nonce) moves money at most once, on chain and here: claiming it is inserting it.
create table chain_payment (
  id text primary key,
  chain_id integer not null,
  token text not null,
  from_address text not null,
  nonce text not null,
  direction text not null check (direction in ('in', 'out')),
  purpose text not null check (purpose in ('invocation', 'deposit', 'refund')),
  -- The request, or the deposit or refund itself.
  subject_id text not null,
  account_id text references account,
  -- in: credited when settled. out: debited when settled.
  ledger_account_id text not null,
  to_address text not null,
  value_micro bigint not null check (value_micro > 0),
  valid_after bigint not null,
  valid_before bigint not null,
  signature text not null,
  -- What the payment was shown for: the same payment with other words is refused.
  fingerprint bytea,
  x402_version smallint,
  state text not null check (state in ('claimed', 'broadcasting', 'settled', 'failed')),
  reason text,
  transaction_hash text,
  block_number bigint,
  created_at timestamptz not null,
  ended_at timestamptz,
  unique (chain_id, token, from_address, nonce)
);
create unique index chain_payment_subject on chain_payment (subject_id, purpose);
create index chain_payment_open on chain_payment (created_at) where state in ('claimed', 'broadcasting');
create index chain_payment_account on chain_payment (account_id, created_at);

-- Write-ahead: raw bytes and hash are stored before they are sent, nonces are given out here and nowhere else.
create table chain_signer (
  chain_id integer not null,
  address text not null,
  next_nonce bigint not null,
  primary key (chain_id, address)
);
create table chain_transaction (
  hash text primary key,
  chain_id integer not null,
  signer text not null,
  nonce bigint not null,
  raw text not null,
  state text not null check (state in ('sent', 'mined')),
  created_at timestamptz not null,
  mined_block bigint,
  mined_at_s bigint,
  unique (chain_id, signer, nonce)
);
create index chain_transaction_open on chain_transaction (chain_id, signer, nonce) where state = 'sent';
