-- What a process tells of itself, and what an operator tells it. Processes of an older version leave these empty.
alter table process
  add column place text,
  add column version text,
  add column schema_version integer,
  add column drain_asked_at timestamptz,
  add column draining_since timestamptz,
  add column open_work jsonb;
comment on column process.place is 'Host name and port.';
comment on column process.schema_version is 'Newest migration that its code has; null: older than 106.';
comment on column process.drain_asked_at is 'An operator asked it to take no more calls.';
comment on column process.draining_since is 'It refuses new calls since then; null: it takes them.';
comment on column process.open_work is 'What it still has, while it drains: invocations, calls, streams.';
