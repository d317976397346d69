-- Deposits into channels pass the node's wallet by: neither in nor out (issue 15, decision 28).
alter table chain_payment drop constraint chain_payment_direction_check;
alter table chain_payment add constraint chain_payment_direction_check
  check (direction in ('in', 'out', 'channel') and (direction = 'channel') = (purpose = 'channel_deposit'));
-- Calldata of the deposit for the settlement contract; it contains the salt.
alter table chain_payment add column deposit_call text;
alter table chain_payment drop column deposit_salt;
alter table chain_payment add constraint chain_payment_deposit_check
  check ((purpose = 'channel_deposit') = (channel_id is not null and deposit_call is not null));
drop index chain_payment_failed;
create index chain_payment_failed on chain_payment (created_at, id) where state = 'failed' and direction <> 'out';
create index chain_payment_channel on chain_payment (channel_id, created_at) where channel_id is not null;

-- The block as of which the balance, the refund nonce and the withdrawal of the channel were read; 0: never.
alter table channel add column read_block bigint not null default 0;
-- From this block on the channel has to be read again: a deposit is deep enough then; null: only after an event.
alter table channel add column due_block bigint;
create index channel_read_block on channel (chain_id, read_block);
create index channel_due_block on channel (chain_id, due_block) where due_block is not null;

-- Blocks up to which the events of the settlement contract were read.
create table channel_point (
  chain_id integer not null,
  block_number bigint not null,
  block_hash text not null,
  primary key (chain_id, block_number)
);
