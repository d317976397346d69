-- One task for several agents. Its state is decided under the lock of its row, in the transaction that ends one of its requests.
create table bulk (
  id text primary key,
  account_id text not null,
  caller_agent_id text,
  strategy text not null check (strategy in ('first_success', 'all', 'majority')),
  status text not null check (status in ('processing', 'completed', 'failed')),
  -- The request whose result it is.
  winner text,
  webhook_url text,
  created_at timestamptz not null,
  completed_at timestamptz,
  check ((status = 'processing') = (completed_at is null))
);

alter table invocation
  add column bulk_id text,
  add column webhook_url text,
  add column is_streamed boolean not null default false,
  add column queue_rank smallint not null generated always as (case priority when 'high' then 0 when 'normal' then 1 else 2 end) stored;
create index invocation_bulk on invocation (bulk_id) where bulk_id is not null;
create index invocation_queue on invocation (queue_rank, created_at)
  where status = 'pending' and worker is null and payment_method <> 'x402';

-- What a streaming agent said on the way. The first events of a stream and its last follow from the request itself.
create table invocation_chunk (
  invocation_id text not null,
  -- 1, 2, 3 … of this request.
  position integer not null,
  type text not null check (type in ('invocation.status', 'invocation.chunk')),
  data json not null,
  created_at timestamptz not null,
  primary key (invocation_id, position)
);
