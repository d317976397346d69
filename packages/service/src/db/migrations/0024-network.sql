-- The shared registry (ERC-8004), as far as this node has read it. Newest point: where reading goes on; older ones to go back to
-- after a reorg.
create table registry_point (
  chain_id integer not null,
  block_number bigint not null,
  block_hash text not null,
  primary key (chain_id, block_number)
);

-- How the reading goes. Whoever moves the newest point holds this row.
create table registry_reading (
  chain_id integer primary key,
  state text not null check (state in ('syncing', 'live', 'stalled')),
  head_block bigint not null,
  -- Up to here the chain will not change; on a local chain the head.
  safe_block bigint not null,
  -- When it last got on, or had nothing to read.
  good_at timestamptz not null
);

-- What the registry's logs say, in their order. A reorg deletes what is above the block that both chains have, and the tokens that
-- lost something are made anew from what is left.
create table registry_log (
  chain_id integer not null,
  block_number bigint not null,
  log_index integer not null,
  transaction_hash text not null,
  token_id numeric(78) not null,
  kind text not null check (kind in ('registered', 'uri', 'owner', 'wallet', 'metadata')),
  -- registered: the URI; uri: the new one; owner, wallet: an address, '' for none; metadata: the key, with the bytes beside it.
  value text not null,
  bytes bytea,
  -- Why value or bytes are left out.
  fault text,
  primary key (chain_id, block_number, log_index)
);
create index registry_log_token on registry_log (chain_id, token_id, block_number, log_index);

create table registry_token (
  chain_id integer not null,
  token_id numeric(78) not null,
  owner text not null,
  -- Who it was registered for: the owner in the transaction that made it.
  registered_by text not null,
  -- '' with a fault: what stands on chain is no text, or too long.
  uri text not null,
  uri_fault text,
  wallet text,
  -- Key to bytes in hex.
  metadata jsonb not null,
  registered_block bigint not null,
  registered_hash text not null,
  -- The block and log of the newest change.
  changed_block bigint not null,
  changed_index integer not null,
  primary key (chain_id, token_id)
);
create index registry_token_uri on registry_token (chain_id, md5(uri));
create index registry_token_owner on registry_token (chain_id, owner);

-- The order in which tokens changed here, for those who follow them. A block's number would not do: a reorg takes a token back to an
-- older block, or away, and that is a change as well. A token without a row above is gone.
create sequence registry_change_number;
create table registry_change (
  chain_id integer not null,
  token_id numeric(78) not null,
  number bigint not null default nextval('registry_change_number'),
  primary key (chain_id, token_id)
);
create index registry_change_order on registry_change (chain_id, number);

-- What this node writes to the registry: intent first, then the transaction that carries it.
create table registry_write (
  id text primary key,
  chain_id integer not null,
  -- register: an agent's entry, or the node's own (subject ''); transfer: to its owner; retire: marked as removed; feedback.
  kind text not null check (kind in ('register', 'transfer', 'retire', 'feedback')),
  subject_id text not null,
  target text not null,
  data text not null,
  state text not null check (state in ('due', 'sent', 'done', 'failed')),
  transaction_hash text,
  token_id numeric(78),
  block_number bigint,
  failure text,
  created_at timestamptz not null,
  ended_at timestamptz
);
-- An agent is registered once, however often it is asked for.
create unique index registry_write_once on registry_write (chain_id, kind, subject_id) where state <> 'failed';
create index registry_write_open on registry_write (created_at, id) where state in ('due', 'sent');

-- Nodes of other operators, as the chain and their own file say.
create table network_node (
  id text primary key,
  chain_id integer not null,
  token_id numeric(78) not null,
  base_url text not null,
  label text not null,
  version text not null,
  -- Where payments for its agents go, and where its refunds come from.
  wallet text not null,
  -- Its agents' rows belong to this account, which is its wallet's.
  account_id text not null references account,
  status text not null check (status in ('online', 'offline')),
  -- False: its entry is gone, or its file is no longer good. The row stays for what refers to it, and until it comes back.
  is_listed boolean not null default true,
  -- False: its agents are yet to be shown as `status` and `is_listed` say.
  is_shown boolean not null default true,
  failed_in_a_row integer not null default 0,
  -- How far its agents' changes were read: what it told us to go on with; null: from the beginning.
  feed_cursor text,
  -- How many agents it has told of since it last came to an end.
  feed_read integer not null default 0,
  next_check_at timestamptz not null,
  joined_at timestamptz not null,
  last_seen_at timestamptz not null
);
create unique index network_node_base_url on network_node (base_url);
create unique index network_node_token on network_node (chain_id, token_id) where is_listed;
create index network_node_check on network_node (next_check_at) where is_listed;

-- How far the changes of the registry's tokens were followed: a number of registry_change.
create table network_follow (
  chain_id integer primary key,
  number bigint not null
);

-- Tokens of the registry that claim to be a node or an agent of one, and what became of the claim. What was good of it stands in
-- network_node and agent.
create table network_entry (
  chain_id integer not null,
  token_id numeric(78) not null,
  kind text not null check (kind in ('node', 'agent')),
  -- The node that its address leads to, for an agent.
  base_url text not null,
  -- The part of its address that says which agent it is.
  agent_id text,
  -- As the chain says.
  owner text not null,
  registered_by text not null,
  state text not null check (state in ('new', 'listed', 'ignored')),
  reason text,
  tries integer not null default 0,
  -- null: only when something changes.
  next_try_at timestamptz,
  primary key (chain_id, token_id),
  check ((kind = 'agent') = (agent_id is not null))
);
create index network_entry_due on network_entry (kind, next_try_at) where next_try_at is not null;
create index network_entry_base on network_entry (base_url, next_try_at);
create index network_entry_agent on network_entry (agent_id) where agent_id is not null;

-- An agent of another node has a row like any other, without an identityToken: its home node calls it.
alter table agent add column home_node text references network_node;
alter table agent alter column token_hash drop not null;
alter table agent alter column token_sealed drop not null;
alter table agent add constraint agent_token_check
  check ((home_node is null) = (token_hash is not null) and (home_node is null) = (token_sealed is not null));
create index agent_home on agent (home_node, status, id) where home_node is not null;

-- Where an agent stands on chain; for those of this node and of others.
alter table agent add column token_id numeric(78);
create unique index agent_token on agent (token_id) where token_id is not null and status <> 'removed';
-- The chain says that the token is somebody else's, who has not proven the wallet yet: what the agent earned stays where it is.
alter table agent add column frozen_at timestamptz;

-- When something of an agent changed that other nodes list; they ask for what changed since.
alter table agent add column changed_at timestamptz not null default now();
create index agent_changed on agent (changed_at, id) where home_node is null and token_id is not null;
