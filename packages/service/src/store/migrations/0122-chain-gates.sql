create table chain_gate (
  chain_id int not null,
  name text not null,
  block_number bigint not null,
  moved_at timestamptz not null,
  reason text,
  primary key (chain_id, name)
);
comment on table chain_gate is 'What answers wait for: the head and the safe block of the chain as the RPC node tells them, and how far each follower of the head has read';
comment on column chain_gate.moved_at is 'When the block last rose';
comment on column chain_gate.reason is 'Why the last run of the follower failed; null: it did not';
