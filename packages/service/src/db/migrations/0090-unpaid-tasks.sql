-- Calls that came through the A2A face, and wait for their payment: the paid message of that protocol does not repeat what it pays for. The
-- only unpaid calls that are kept. A row is gone when its offer has ended, paid or not; the request, if it was paid, is an invocation.
create table unpaid_task (
  -- The id of the request that the payment creates: the offer names it.
  id text primary key,
  -- null: the caller has no API key, and whoever knows the id may pay.
  account_id text references account (id),
  caller_agent_id text,
  -- Who may keep so many: an account, an agent, or without a key a network.
  holder text not null,
  agent_id text not null,
  -- The body of the call, its quote and its Idempotency-Key.
  body json not null,
  quote_id text,
  message_key text not null,
  -- The terms, in the forms of x402 version 1 and 2.
  offer json not null,
  -- Why the last payment was refused; null: there was none.
  refusal text,
  ended text check (ended in ('rejected', 'cancelled')),
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index unpaid_task_holder on unpaid_task (holder, created_at);
create index unpaid_task_expires on unpaid_task (expires_at);

-- The key that signs the cards of this node's agents (ES256), sealed with the node's secret; made once, for all processes.
create table card_key (
  is_only boolean primary key default true check (is_only),
  id text not null,
  sealed bytea not null,
  created_at timestamptz not null
);
