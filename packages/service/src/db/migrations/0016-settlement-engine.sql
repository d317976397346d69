-- Several keys send. A key carries one open transaction at a time, in the care of whoever holds its lease.
alter table chain_signer add column leased_by text;
alter table chain_signer add column leased_until timestamptz;
alter table chain_signer add constraint chain_signer_lease_check check ((leased_by is null) = (leased_until is null));

-- A transaction that no block takes is signed again under its nonce, for a higher fee: whichever of them is mined replaces the others.
alter table chain_transaction drop constraint chain_transaction_chain_id_signer_nonce_key;
alter table chain_transaction drop constraint chain_transaction_state_check;
alter table chain_transaction add constraint chain_transaction_state_check check (state in ('sent', 'mined', 'replaced'));
create index chain_transaction_nonce on chain_transaction (chain_id, signer, nonce);
create unique index chain_transaction_mined_nonce on chain_transaction (chain_id, signer, nonce) where state = 'mined';

-- Which block has it, by its hash: a reorg puts another block at the same height.
alter table chain_transaction add column block_hash text;
alter table chain_transaction add column block_index integer;
create index chain_transaction_block on chain_transaction (chain_id, mined_block) where block_hash is not null;

alter table chain_payment drop constraint chain_payment_state_check;
alter table chain_payment add constraint chain_payment_state_check
  check (state in ('claimed', 'broadcasting', 'settled', 'failed', 'reversed'));
alter table chain_payment add column block_hash text;
-- Settled in a block that is no longer part of the chain, and not found in another yet.
alter table chain_payment add column lost_at timestamptz;
alter table chain_payment add constraint chain_payment_lost_check check (lost_at is null or state in ('settled', 'reversed'));
create index chain_payment_block_hash on chain_payment (chain_id, block_number) where block_hash is not null;
create index chain_payment_lost on chain_payment (created_at, id) where lost_at is not null and state = 'settled';
create index chain_payment_failed on chain_payment (created_at, id) where state = 'failed' and direction = 'in';
drop index chain_payment_open;
create index chain_payment_open on chain_payment (created_at, id) where state in ('claimed', 'broadcasting');
