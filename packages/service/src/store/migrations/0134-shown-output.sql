alter table invocation
  add column shown_share smallint,
  add column is_held_back boolean not null default false,
  add column shown_at timestamptz,
  add column is_ended_early boolean not null default false;
comment on column invocation.shown_share is 'Percent of the price that the call costs when it is ended early after output was shown, as its agent stated at acceptance. Null: all of it.';
comment on column invocation.is_held_back is 'The agent''s chunks are shown only once the call has completed: its result is held to a schema.';
comment on column invocation.shown_at is 'Since when output of the agent can be read by the caller before the end. Null: none.';
comment on column invocation.is_ended_early is 'It was ended without a result after output was shown, by no error of the agent.';
create index invocation_ended_early on invocation (agent_id, account_id) where is_ended_early;
alter table quote add column shown_share smallint;
