-- Who ran a request under its key, and with which rights: a repetition needs the same caller, or at least those rights. Rows from
-- before have no caller; no secret is in any answer that is told again, whichever release stored it.
alter table idempotency
  add column caller_id text,
  add column scopes text[] not null default '{}',
  -- A secret that an answer shows once, until it is handed out: afterwards null, and never in `answer_sealed`.
  add column secret_sealed bytea,
  add column secret_until timestamptz;
create index idempotency_secret on idempotency (secret_until) where secret_sealed is not null;

-- A call that was answered with what an earlier one had been: it changed nothing by itself.
alter table audit_entry add column replayed boolean not null default false;
