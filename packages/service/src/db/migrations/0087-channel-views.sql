-- Channels as their payers and the operator see them (issue 15).

-- Gas that the transaction took; null: it is not mined, or was before this.
alter table channel_claim add column gas_used bigint;
create index channel_claim_created on channel_claim (chain_id, created_at, id);
create index channel_claim_row_channel on channel_claim_row (channel_id);
create index channel_refund_channel on channel_refund (channel_id, created_at);
create index channel_withdrawing on channel (chain_id, id) where withdraw_requested_at is not null;
