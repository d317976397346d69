-- What is kept for a time only. A request whose content was removed still says what it was, how it ended and what it cost.
alter table invocation add column content_removed_at timestamptz;
create index invocation_content_due on invocation (completed_at) where completed_at is not null and content_removed_at is null;
create index invocation_chunk_age on invocation_chunk (created_at);
create index webhook_delivery_age on webhook_delivery (created_at) where state <> 'pending';
create index quote_age on quote (valid_until);
create index rate_window_age on rate_window (started_at);

-- Up to which sequence events of an account were removed.
create table event_horizon (
  account_id text primary key,
  sequence bigint not null
);

-- Bytes that are stored of an account's requests: what was folded, and changes that were not yet. Appended, so that nobody waits for
-- the row of an account.
create table account_storage (
  account_id text primary key,
  bytes bigint not null
);
create table storage_change (
  id bigint generated always as identity primary key,
  account_id text not null,
  bytes bigint not null
);
create index storage_change_account on storage_change (account_id);
insert into account_storage (account_id, bytes)
  select account_id, sum(bytes) from (
    select account_id, coalesce(octet_length(result::text), 0) + octet_length(input::text) as bytes
      from invocation where completed_at is not null
    union all
    select v.account_id, octet_length(c.data::text) from invocation_chunk c join invocation v on v.id = c.invocation_id
  ) stored group by account_id;
