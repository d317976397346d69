-- One row per Idempotency-Key of an account: who runs it, or the answer that every repetition gets.
create table idempotency (
  account_id text not null,
  key text not null,
  fingerprint bytea not null,
  -- The process that runs it; null once it is answered.
  worker uuid,
  answer_sealed bytea,
  created_at timestamptz not null,
  primary key (account_id, key)
);
create index idempotency_created on idempotency (created_at);
