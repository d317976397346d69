create table agent (
  id text primary key,
  account_id text not null references account,
  owner_address text not null,
  name text not null,
  description text not null,
  capabilities text[] not null,
  per_request_micro bigint not null check (per_request_micro >= 0),
  per_hour_micro bigint not null check (per_hour_micro >= 0),
  tiers json not null,
  endpoint text not null,
  metadata json not null,
  status text not null check (status in ('pending_verification', 'online', 'offline', 'removed')),
  reputation integer not null check (reputation between 0 and 1000),
  -- The identityToken: a hash finds the agent that shows it, the sealed text signs what we send to the agent.
  token_hash bytea not null unique,
  token_sealed bytea not null,
  endpoint_proven_at timestamptz,
  -- Checks of the endpoint: tries to prove it while pending, health probes afterwards.
  next_check_at timestamptz,
  checks_done integer not null default 0,
  failed_in_a_row integer not null default 0,
  passed_in_a_row integer not null default 0,
  last_ping_at timestamptz,
  last_seen_at timestamptz not null,
  response_ms double precision,
  -- What the agent reported of itself; lowers its status, never raises it.
  reported_load double precision,
  reported_at timestamptz,
  is_accepting boolean not null default true,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  removed_at timestamptz,
  final_block bigint
);
create index agent_next_check on agent (next_check_at) where next_check_at is not null;
create index agent_account on agent (account_id);

-- What the calls and probes of an agent added up to. Apart from `agent`, so that counting stays cheap.
create table agent_totals (
  agent_id text primary key references agent,
  completed bigint not null default 0,
  failed bigint not null default 0,
  duration_ms bigint not null default 0,
  probes_passed bigint not null default 0,
  probes bigint not null default 0
) with (fillfactor = 50);

-- The inverted table that lists are read from: one row per agent and capability, and one with capability '' for every agent.
-- The covering index answers filter, order, page and exact count without touching the agents.
create table agent_listing (
  capability text not null,
  agent_id text not null references agent,
  reputation integer not null,
  status text not null,
  price_micro bigint not null,
  primary key (capability, agent_id)
);
create index agent_listing_best on agent_listing (capability, reputation desc, agent_id) include (status, price_micro);
