-- Somebody signed in with a browser has a row like a key's, so that revocation, limits and attribution work the same; it is never
-- in the list of keys, nor taken as one.
alter table api_key
  add column kind text not null default 'key' check (kind in ('key', 'session')),
  add column user_agent text,
  -- Signed in as local mode's own account, without a wallet.
  add column is_local boolean not null default false;
create index api_key_session_created on api_key (created_at) where kind = 'session';

-- What the signature of a challenge is for, and what it allows, written in the one way that it is compared in.
alter table wallet_challenge
  add column purpose text not null default 'proof' check (purpose in ('proof', 'withdrawal')),
  add column terms text check ((terms is not null) = (purpose = 'withdrawal'));

-- What was changed in an account's name, by whom and from where. `unknown`: begun, and nobody noted how it ended.
create table audit_entry (
  id text primary key,
  account_id text not null references account,
  at timestamptz not null,
  action text not null,
  actor_kind text not null check (actor_kind in ('key', 'session')),
  actor_id text not null,
  actor_name text not null,
  subject jsonb not null,
  address text not null,
  user_agent text,
  outcome text not null check (outcome in ('done', 'refused', 'unknown')),
  code text
);
create index audit_entry_account on audit_entry (account_id, id);
create index audit_entry_at on audit_entry (at);
