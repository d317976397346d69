-- Files of accounts: contents for calls and results.
create table file_blob (
  id text primary key,
  owner_id text not null,
  account_id text not null references account (id),
  store text not null check (store in ('postgres', 'disk', 's3')),
  state text not null check (state in ('arriving', 'kept', 'leaving')),
  size bigint not null check (size >= 0),
  piece_bytes integer not null check (piece_bytes > 0),
  piece_hashes bytea,
  counted_bytes bigint not null,
  due_at timestamptz,
  check ((state = 'kept') = (due_at is null)),
  check (state <> 'kept' or piece_hashes is not null)
);
create index file_blob_due on file_blob (due_at) where due_at is not null;
create index file_blob_arriving on file_blob (account_id) where state = 'arriving';
comment on table file_blob is 'Contents in a store, one for each upload: noted before the first byte is stored, forgotten after the last is removed';
comment on column file_blob.owner_id is 'The account that uploaded it, or the agent that did with its identityToken';
comment on column file_blob.piece_hashes is 'SHA-256 of each piece, one after the other';
comment on column file_blob.counted_bytes is 'Counted as stored bytes of the account until it leaves';
comment on column file_blob.due_at is 'An upload that is not whole by then, and what is leaving from then on, is removed; null: kept';

create table file (
  owner_id text not null,
  sha256 bytea not null check (octet_length(sha256) = 32),
  blob_id text not null unique references file_blob (id),
  media_type text not null,
  name text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (owner_id, sha256)
);
create index file_listed on file (owner_id, created_at desc, blob_id desc);
create index file_expiring on file (expires_at);
comment on table file is 'What an owner has stored, by the hash of its content. Owners share no contents: nothing tells what another one has';

create table file_piece (
  blob_id text not null,
  position integer not null,
  bytes bytea not null,
  primary key (blob_id, position)
);
-- Most contents are compressed already.
alter table file_piece alter column bytes set storage external;
comment on table file_piece is 'Contents of the store "postgres", in pieces';
