-- Sum of the booked claims of all channels of a receiver: what the contract counts beyond it is foreign.
alter table channel_receiver add column known_micro bigint not null default 0;
-- Channels that were charged more than they hold, or whose loss is booked.
create index channel_lossy on channel (chain_id, id) where charged_micro > balance_micro or lost_micro > 0;
-- Channels that a refund keeps from taking vouchers.
create index channel_refunding on channel (chain_id, id) where refund_id is not null;
create index channel_open on channel (chain_id) where balance_micro > charged_micro;
create index channel_charge_ended on channel_charge (ended_at) where ended_at is not null;

insert into ledger_account (id, kind, created_at) values ('vouchers', 'vouchers', now()), ('claimed', 'claimed', now()) on conflict do nothing;
