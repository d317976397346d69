-- Who may call. An account is a wallet; its keys are stored only as hashes.
create table account (
  id text primary key,
  address text not null unique check (address ~ '^0x[0-9a-f]{40}$'),
  plan text not null check (plan in ('free', 'pro', 'enterprise')),
  wallet_proven_at timestamptz,
  created_at timestamptz not null
);

create table api_key (
  id text primary key,
  account_id text not null references account,
  name text not null,
  start text not null,
  secret_hash bytea not null,
  scopes text[] not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz
);
create index api_key_account on api_key (account_id);

-- One row per subject (key, agent or address) and class of calls: an anchored window of an hour.
create table rate_window (
  subject text not null,
  class text not null,
  started_at timestamptz not null,
  used integer not null,
  -- How many calls the last lease granted.
  granted integer not null,
  primary key (subject, class)
) with (fillfactor = 50);
