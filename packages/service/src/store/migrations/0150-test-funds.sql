-- Test USDC that the node gives to accounts, in local mode and by faucets on test networks.
create table test_grant (
  id text primary key,
  account_id text not null references account (id),
  network text not null,
  created_at timestamptz not null
);
create index test_grant_age on test_grant (created_at);
comment on table test_grant is 'Gifts of test USDC in the last 24 hours, by the id of their deposit: noted before anything is paid';
comment on column test_grant.network is 'IPv4 address or IPv6 network of the client that asked';

create table faucet_wallet (
  address text primary key
);
comment on table faucet_wallet is 'Wallets that test USDC was ever given from: two accounts that got some are no party because of that';

create or replace view account_contact as
  select id as account_id, address as wallet from account
  union all select account_id, address from account_wallet
  union all select account_id, wallet from payer_wallet
  union all select account_id, from_address from chain_payment
   where purpose = 'deposit' and state = 'settled' and from_address not in (select address from faucet_wallet);
