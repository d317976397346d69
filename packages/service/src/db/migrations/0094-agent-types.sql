-- What agents declare to take and give, as JSON Schemas: one row for each version, which never changes. Versions that were replaced are
-- kept until every call that was accepted with them is over.
create table agent_types (
  id text primary key,
  agent_id text not null,
  declared json not null,
  estimated_time text,
  created_at timestamptz not null,
  replaced_at timestamptz
);
create index agent_types_agent on agent_types (agent_id);

-- The present version; null: the agent declares nothing.
alter table agent add column types_id text references agent_types (id);
create trigger agent_types_changed after update of types_id on agent
  for each row when (old.types_id is distinct from new.types_id) execute function note_replica_change('agent');

-- The version that the request was accepted with, and the capability that the call names.
alter table invocation add column types_id text;
alter table invocation add column capability text;
