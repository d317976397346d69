-- Several tokens on one chain. Processes of the release before write rows of a chain's USDC alone, whose key is the empty text: they may run
-- beside, until the node takes a second token on a chain (node.ts).
alter table asset add column token_key text not null default '';
comment on table asset is 'Assets that the books have or had, each a token of a network. Rows stay when a network is removed from the settings.';
comment on column asset.token_key is 'The token in tables that name a chain beside it: empty for the USDC of the chain, else its address.';
alter table asset drop constraint asset_chain_id_key;
create unique index asset_token on asset (chain_id, token_key);

alter table transfer_point add column token text not null default '', drop constraint transfer_point_pkey,
  add primary key (chain_id, token, block_number);
alter table payout_point add column token text not null default '', drop constraint payout_point_pkey,
  add primary key (chain_id, token, block_number);
alter table channel_point add column token text not null default '', drop constraint channel_point_pkey,
  add primary key (chain_id, token, block_number);
alter table chain_catch_up add column token text not null default '', drop constraint chain_catch_up_pkey,
  add primary key (chain_id, token, database);
alter table unshown_transfer add column token text not null default '', drop constraint unshown_transfer_pkey,
  add primary key (chain_id, token, from_address, nonce);
alter table awaited_refund add column token text not null default '', drop constraint awaited_refund_pkey,
  add primary key (chain_id, token, from_address, nonce);
alter table channel_receiver add column token text not null default '', drop constraint channel_receiver_pkey,
  add primary key (chain_id, token, receiver);
alter table channel_claim add column token text not null default '';
drop index channel_claim_block;
create index channel_claim_block on channel_claim (chain_id, token, block_number) where state = 'done';
-- Whether an asset has a channel is asked all the time, and may be the token of few among many.
drop index channel_read_block;
create index channel_read_block on channel (chain_id, token, read_block);

-- An authorization's nonce may be used in each token.
alter table found_payout drop constraint found_payout_chain_id_nonce_key, add unique (chain_id, token, nonce);

comment on table chain_gate is 'What answers wait for: the head and the safe block of the chain as the RPC node tells them, and how far each follower of the head has read; those of a further token have names that end in @ and its address';
