-- SHA-256 of input, context and result, written when a request ends: a receipt names them after their retention. 96 bytes; null: a request
-- that ended before this, or was refused as it came.
alter table invocation add column content_hashes bytea;

-- The signed receipts that were given out. A row never changes.
create table invocation_receipt (
  request_id text primary key references invocation (id),
  receipt json not null,
  issued_at timestamptz not null
);
