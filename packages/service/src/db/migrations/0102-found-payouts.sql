-- The database as a place in time: another after a failover, a restore, a copy, and an operator's word over a hole. It is text to compare,
-- and null where the server does not tell.
create function database_identity() returns text language plpgsql volatile as $$
begin
  return (select (pg_control_system()).system_identifier::text || '.' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)
            || '.' || (select oid::text from pg_database where datname = current_database())
            || '.' || coalesce((select max(id) from database_hole where not is_open), 0)::text);
exception when others then
  return null;
end $$;

-- Up to where transfers out of the node's wallet were held against the books.
create table payout_point (
  chain_id integer not null,
  block_number bigint not null,
  block_hash text not null,
  primary key (chain_id, block_number)
);

-- Once for each identity of the database: the blocks that were read before withdrawals went on.
create table chain_catch_up (
  chain_id integer not null,
  database text not null,
  from_block bigint not null,
  to_block bigint not null,
  -- False for the first database of a node: there was nothing to catch up with.
  is_restored boolean not null,
  caught_up_at timestamptz not null,
  primary key (chain_id, database)
);

-- Transfers out of the node's wallet that no payment of the books explained when they were read.
create table found_payout (
  id text primary key,
  chain_id integer not null,
  token text not null,
  from_address text not null,
  -- Of its authorization; of a plain transfer a substitute made of its place on chain.
  nonce text not null,
  is_plain boolean not null,
  to_address text not null,
  value_micro bigint not null check (value_micro > 0),
  transaction_hash text not null,
  block_number bigint not null,
  block_hash text not null,
  -- Found while the books of a restored database caught up with the chain.
  is_restored boolean not null,
  state text not null default 'found' check (state in ('found', 'expected', 'explained', 'booked', 'due', 'undecided', 'decided')),
  -- The request that it belongs to, and as what.
  request_id text,
  purpose text,
  -- The ledger account that it was charged to, and what that account still lacks: the node's loss until it has it.
  source text,
  due_micro bigint not null default 0 check (due_micro >= 0),
  payment_id text references chain_payment (id),
  decided_by text,
  decision text,
  found_at timestamptz not null,
  changed_at timestamptz not null,
  unique (chain_id, nonce),
  check (state <> 'decided' or decided_by is not null),
  check (due_micro = 0 or state = 'due')
);

create index found_payout_open on found_payout (state) where state in ('found', 'expected', 'due', 'undecided');
