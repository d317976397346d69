-- Payments that the node paid gas for and that moved nothing, by who caused them: a wallet, an account, a client's network address. All
-- processes see it, and a restart does not forget it.
create table payer_strike (
  subject text primary key,
  strikes integer not null check (strikes > 0),
  last_at timestamptz not null,
  refused_until timestamptz
);
create index payer_strike_age on payer_strike (last_at);

-- The network address that showed a payment; whoever records that it failed counts it against that.
alter table chain_payment add column client text;
