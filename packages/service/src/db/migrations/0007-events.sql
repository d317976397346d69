-- What happened, written in the transaction that made it happen. `sequence` begins with the id of that transaction: whoever reads
-- below the oldest transaction that is still open can miss nothing, as nothing can appear there any more.
create table event (
  sequence bigint primary key,
  id text not null unique,
  account_id text not null,
  type text not null,
  -- What it happened to; `data` is null where the thing itself, which no longer changes, is the data.
  subject_id text not null,
  data json,
  webhook_url text,
  needs_fan_out boolean not null,
  created_at timestamptz not null
);
create index event_account on event (account_id, sequence);
create index event_fan_out on event (sequence) where needs_fan_out;

-- Added to transaction ids in sequences: a database restored from a dump begins to count transactions anew. Also the lock of fan-out.
create table event_clock (
  only_row boolean primary key default true check (only_row),
  xid_offset bigint not null
);
insert into event_clock (xid_offset) values (0);

-- Where to send events: an endpoint, or (kind account, one per account, made when first needed) the URLs of single requests.
create table webhook (
  id text primary key,
  account_id text not null references account,
  kind text not null check (kind in ('endpoint', 'account')),
  url text,
  description text not null,
  event_types text[],
  status text not null check (status in ('enabled', 'disabled')),
  disabled_reason text,
  secret_sealed bytea not null,
  old_secret_sealed bytea,
  old_valid_until timestamptz,
  -- When the first of the failures came that no success has followed.
  failing_since timestamptz,
  -- The endpoint asked to be left alone until then.
  paused_until timestamptz,
  -- No later than the first delivery that is due; null when none waits.
  due_at timestamptz,
  -- The process that is sending to it now, alone.
  courier uuid,
  created_at timestamptz not null,
  check ((kind = 'endpoint') = (url is not null))
);
create index webhook_account on webhook (account_id);
create unique index webhook_single on webhook (account_id) where kind = 'account';
create index webhook_due on webhook (due_at) where due_at is not null;

create table webhook_delivery (
  id text primary key,
  webhook_id text not null references webhook on delete cascade,
  event_id text not null,
  -- null for a test, which is no event.
  sequence bigint,
  type text not null,
  -- null: the URL of the endpoint.
  url text,
  -- Set before the first attempt; every attempt sends these bytes.
  body text,
  state text not null check (state in ('pending', 'delivered', 'failed')),
  -- All ever made. The fencing token: an attempt is recorded once, by whoever made the one after the last.
  attempts integer not null,
  -- Made since it was created or replayed: the place in the retry schedule.
  tries integer not null,
  next_attempt_at timestamptz,
  created_at timestamptz not null,
  unique (webhook_id, event_id),
  check ((state = 'pending') = (next_attempt_at is not null))
);
create index webhook_delivery_first on webhook_delivery (webhook_id, sequence) where state = 'pending' and tries = 0;
create index webhook_delivery_retry on webhook_delivery (webhook_id, next_attempt_at) where state = 'pending' and tries > 0;
create index webhook_delivery_list on webhook_delivery (webhook_id, created_at, id);

create table webhook_attempt (
  delivery_id text not null references webhook_delivery on delete cascade,
  number integer not null,
  at timestamptz not null,
  status integer,
  error text,
  duration_ms integer not null,
  response text,
  primary key (delivery_id, number)
);
