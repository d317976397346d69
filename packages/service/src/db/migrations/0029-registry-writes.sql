-- `uri`: an entry points elsewhere from now on; it may be written again and again.
alter table registry_write drop constraint registry_write_kind_check;
alter table registry_write add constraint registry_write_kind_check
  check (kind in ('register', 'uri', 'transfer', 'retire', 'feedback'));
drop index registry_write_once;
create unique index registry_write_once on registry_write (chain_id, kind, subject_id) where state <> 'failed' and kind <> 'uri';
create unique index registry_write_once_open on registry_write (chain_id, kind, subject_id) where state in ('due', 'sent');

-- What the call may take of the transaction's gas.
alter table registry_write add column gas bigint not null default 500000;
-- The address that an entry points to: of `register` and `uri`.
alter table registry_write add column uri text;
-- Which call of its transaction it is.
alter table registry_write add column place integer;
-- How often the chain undid it.
alter table registry_write add column tries integer not null default 0;
-- The block that has it: a reorg puts another at that height.
alter table registry_write add column block_hash text;
create index registry_write_sent on registry_write (transaction_hash) where state = 'sent';
create index registry_write_done on registry_write (chain_id, block_number) where state = 'done';
create index registry_write_subject on registry_write (subject_id, kind);

-- Since when the owner's wallet holds the token, or linked one of its own; null: this node's registrar holds it.
alter table agent add column token_claimed_at timestamptz;
create index agent_token_claimed on agent (token_id) where token_claimed_at is not null and status <> 'removed';
-- Agents that may have to be registered: at start they are gone through.
create index agent_unregistered on agent (id) where token_id is null and home_node is null and endpoint_proven_at is not null;

-- Nothing leaves it until its agent's new owner has proven the wallet.
alter table ledger_account add column frozen_at timestamptz;
