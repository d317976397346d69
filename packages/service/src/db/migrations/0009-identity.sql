-- Texts that owners are asked to sign. Kept whole: what is verified is what was shown, byte for byte.
create table wallet_challenge (
  id text primary key,
  account_id text not null references account,
  agent_id text not null references agent,
  address text not null,
  message text not null,
  nonce text not null,
  attempts integer not null default 0,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index wallet_challenge_account on wallet_challenge (account_id, expires_at);
