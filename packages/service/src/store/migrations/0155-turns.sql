-- Agents that ask back: one turn per question, and the caller's answer.
alter table invocation
  add column input_timeout_s integer check (input_timeout_s > 0),
  add column turn integer not null default 1;
comment on column invocation.input_timeout_s is 'Seconds that a question waits for its answer; null: the call is not interactive';
comment on column invocation.deadline is 'End of the time to run; while the status is input_required, the time at which the question expires';
alter table invocation drop constraint invocation_status_check, add constraint invocation_status_check
  check (status in ('pending', 'processing', 'input_required', 'completed', 'failed', 'cancelled')) not valid;
create index invocation_waiting on invocation (deadline) where status = 'input_required';
create index invocation_waiting_account on invocation (account_id) where status = 'input_required';

create table invocation_turn (
  request_id text not null references invocation (id),
  turn integer not null,
  input_id text not null unique,
  kind text not null check (kind in ('input', 'approval', 'link')),
  message text not null,
  schema json,
  url text,
  agent_input_id text,
  state json,
  handle text,
  left_ms bigint not null,
  asked_at timestamptz not null,
  expires_at timestamptz not null,
  tries integer not null default 0,
  answered_at timestamptz,
  action text check (action in ('accept', 'decline')),
  input json,
  note text,
  answer_digest bytea,
  bytes bigint not null,
  primary key (request_id, turn),
  check ((answered_at is null) = (action is null))
);
comment on column invocation_turn.state is 'What the agent wants back with the answer';
comment on column invocation_turn.handle is 'Id of the work at the upstream, or the address of its state';
comment on column invocation_turn.left_ms is 'Time to run that was left when the question was asked';
comment on column invocation_turn.note is 'Text of the caller that came with the answer';

alter table invocation_chunk drop constraint invocation_chunk_type_check, add constraint invocation_chunk_type_check
  check (type in ('invocation.status', 'invocation.chunk', 'invocation.input_required')) not valid;

-- A request is sent once in each turn.
alter table upstream_call add column turn integer not null default 1;
alter table upstream_call drop constraint upstream_call_pkey, add primary key (request_id, turn);

-- An older process that runs beside does not know questions: it takes no interactive call, neither from the queue nor from a dead process.
create function keep_interactive() returns trigger language plpgsql as $$
begin
  if exists (select from process where id = new.worker and schema_version < 155) then
    return null;
  end if;
  return new;
end $$;
create trigger invocation_interactive before update of worker on invocation for each row
  when (new.input_timeout_s is not null and new.worker is not null and new.worker is distinct from old.worker)
  execute function keep_interactive();
