-- How far the node has read which USDC came to its wallet without a request: newest point first, older ones to go back to after a reorg.
create table transfer_point (
  chain_id integer not null,
  block_number bigint not null,
  block_hash text not null,
  primary key (chain_id, block_number)
);

-- Transfers by an authorization that nobody has shown us. It may still be shown as the payment of a request, which comes first;
-- after a while the money is credited to the wallet it came from.
create table unshown_transfer (
  chain_id integer not null,
  from_address text not null,
  nonce text not null,
  value_micro bigint not null check (value_micro > 0),
  transaction_hash text not null,
  block_number bigint not null,
  block_hash text not null,
  seen_at timestamptz not null,
  primary key (chain_id, from_address, nonce)
);

-- Wallets beside an account's own that it has proven: what they send is its deposit.
create table account_wallet (
  address text primary key check (address ~ '^0x[0-9a-f]{40}$'),
  account_id text not null references account,
  proven_at timestamptz not null
);
create index account_wallet_account on account_wallet (account_id);

-- USDC that came from wallets of nobody we know.
alter table ledger_account drop constraint ledger_account_kind_check;
alter table ledger_account add constraint ledger_account_kind_check
  check (kind in ('treasury', 'agent', 'payer', 'suspense', 'wallet', 'outgoing', 'fees', 'loss'));
create unique index ledger_account_suspense on ledger_account (address) where kind = 'suspense';
alter table transfer drop constraint transfer_kind_check;
alter table transfer add constraint transfer_kind_check
  check (kind in ('deposit', 'charge', 'fee', 'refund', 'payout', 'withdrawal', 'return', 'reversal', 'claim'));

-- A challenge proves the owner of an agent, or (without an agent) a wallet of the account's.
alter table wallet_challenge alter column agent_id drop not null;
