-- What happened, written in the transaction that made it happen. `sequence` grows with time; `xid` tells readers which events of
-- transactions that are still open may yet appear before ones already visible.
create table event (
  sequence bigint generated always as identity primary key,
  id text not null unique,
  account_id text not null,
  type text not null,
  -- What it happened to; `data` is null where the thing itself, which no longer changes, is the data.
  subject_id text not null,
  data json,
  webhook_url text,
  needs_fan_out boolean not null,
  xid xid8 not null default pg_current_xact_id(),
  created_at timestamptz not null
);
create index event_account on event (account_id, sequence);
create index event_fan_out on event (sequence) where needs_fan_out;

create table webhook (
  id text primary key,
  account_id text not null references account,
  url text not null,
  description text not null,
  event_types text[],
  status text not null check (status in ('enabled', 'disabled')),
  disabled_reason text,
  secret_sealed bytea not null,
  old_secret_sealed bytea,
  old_valid_until timestamptz,
  failing_since timestamptz,
  created_at timestamptz not null
);
create index webhook_account on webhook (account_id);
