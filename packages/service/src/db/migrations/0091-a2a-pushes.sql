-- Push notifications of A2A tasks: where a caller wants to be told of a task. Each is told of the task, its changes of status, its result
-- and its end, in this order, at least once.
create table a2a_push (
  task_id text not null,
  id text not null,
  account_id text not null references account (id),
  url text not null,
  -- The shape of the messages.
  version text not null check (version in ('1.0', '0.3')),
  scheme text,
  -- Token and credentials, sealed with the node's secret.
  sealed bytea not null,
  -- What was told last.
  told text not null default 'nothing' check (told in ('nothing', 'pending', 'processing', 'result', 'ended')),
  -- false: everything was told, or it was given up.
  is_open boolean not null default true,
  tries integer not null default 0,
  -- When it is looked at again; while a message is on its way, when another process may take it over.
  next_at timestamptz not null,
  created_at timestamptz not null,
  primary key (task_id, id)
);
create index a2a_push_open on a2a_push (next_at) where is_open;
create index a2a_push_account on a2a_push (account_id) where is_open;
create index a2a_push_created on a2a_push (created_at);

-- Calls without a key that wait for their payment are counted: they are bounded for the whole node.
create index unpaid_task_keyless on unpaid_task (id) where account_id is null;
