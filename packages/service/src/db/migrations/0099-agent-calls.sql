-- The kind of the caller and the way in which the call came, for the owner of the called agent. null: stored before this.
alter table invocation add column caller_kind text
  constraint invocation_caller_kind_check check (caller_kind in ('account', 'agent', 'wallet', 'node'));
alter table invocation add column face text;

-- The calls to an agent: by status, so that each of them is one range however rare it is, and the failed ones by reason.
create index invocation_received on invocation (agent_id, status, created_at desc, id);
create index invocation_received_failed on invocation (agent_id, error_code, created_at desc, id) where status = 'failed';

-- Since when the account has had an agent that it took over; null: it registered it. Earlier calls are not its own to read.
alter table agent add column owned_since timestamptz;
