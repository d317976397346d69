-- One row per living process of this node. Whoever finds a row not seen for 10 s deletes it and recovers its work,
-- in one transaction: the deletion decides who does it.
create table process (
  id         uuid primary key,
  worker_ids text[]      not null default '{}',
  started_at timestamptz not null default now(),
  seen_at    timestamptz not null default now(),
  label      text        not null
);

-- When each piece of recurring work is next due. A process that wants to run it moves due_at first.
create table recurring (
  name   text primary key,
  due_at timestamptz not null
);
