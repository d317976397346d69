create table quote (
  id text primary key,
  account_id text not null references account,
  agent_id text not null references agent,
  price_micro bigint not null,
  valid_until timestamptz not null,
  used_by text unique,
  created_at timestamptz not null
);

create table invocation (
  id text primary key,
  account_id text not null,
  -- Set when an agent made the call, paid from that agent's treasury.
  caller_agent_id text,
  agent_id text not null,
  task text not null,
  input json not null,
  context text,
  metadata json not null,
  priority text not null check (priority in ('low', 'normal', 'high')),
  -- The locked price: what is charged at most.
  price_micro bigint not null,
  estimated_time text not null,
  deadline timestamptz not null,
  payment_method text not null check (payment_method in ('treasury', 'x402', 'free')),
  payer_ledger_id text,
  payment_hash text,
  status text not null check (status in ('pending', 'processing', 'completed', 'failed', 'cancelled')),
  -- The lease: which process works on it, and the fencing token that every later write must show.
  worker uuid,
  attempt integer not null,
  result json,
  cost_micro bigint,
  refund_micro bigint,
  error_code text,
  error_message text,
  created_at timestamptz not null,
  started_at timestamptz,
  completed_at timestamptz,
  check ((status in ('completed', 'failed', 'cancelled')) = (completed_at is not null))
) with (fillfactor = 80);
create index invocation_account on invocation (account_id, created_at desc, id);
create index invocation_open on invocation (agent_id, worker) where status in ('pending', 'processing');
