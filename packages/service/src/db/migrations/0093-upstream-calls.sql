-- Written before a request is sent to an endpoint that would run it twice: it is never sent again, whatever process has it next.
create table upstream_call (
  request_id text primary key references invocation (id),
  sent_at timestamptz not null,
  -- The upstream's id of the work, once known: a task of A2A, a job of MIP-003.
  handle text
);
