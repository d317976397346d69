-- Without an account: whoever holds the wallet may sign in with it.
alter table wallet_challenge alter column account_id drop not null;
create index wallet_challenge_sign_in on wallet_challenge (address, created_at desc) where account_id is null;

-- The key that we have at another node, sealed; null: we have not signed in there yet.
alter table network_node add column api_key_sealed bytea;
create index network_node_account on network_node (account_id);

-- A request for an agent of another node, as it stands there.
create table home_call (
  request_id text primary key,
  node_id text not null references network_node,
  -- Its id there.
  home_request_id text not null,
  created_at timestamptz not null,
  -- When its home is asked how it ended, once it has ended here; null: no more.
  next_look_at timestamptz
);
create index home_call_look on home_call (next_look_at) where next_look_at is not null;

-- Transfers that a node will send us if it gives back what we paid for a request: their nonces follow from the request's id there. Noted
-- in the transaction that signs the payment, so none can come before it is known.
create table awaited_refund (
  chain_id integer not null,
  from_address text not null,
  nonce text not null,
  -- Our request.
  request_id text not null,
  purpose text not null check (purpose in ('home_refund', 'home_return')),
  primary key (chain_id, from_address, nonce)
);

alter table chain_payment drop constraint chain_payment_purpose_check;
alter table chain_payment add constraint chain_payment_purpose_check
  check (purpose in ('invocation', 'deposit', 'refund', 'withdrawal', 'bill', 'return', 'home_refund', 'home_return', 'second_return'));

-- Of what was paid to the agent's home: what that said it gives back, and what of it has come.
alter table invocation
  add column promised_micro bigint check (promised_micro >= 0),
  add column returned_micro bigint not null default 0 check (returned_micro >= 0);
