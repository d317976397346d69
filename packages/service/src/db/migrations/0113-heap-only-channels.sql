-- A call changes the sums of its channel twice, and its charge once. While an index named these columns, each change wrote an entry to every
-- index of the row; now such an update stays in its page (heap-only). The partial indexes are of flags that the database computes and that
-- calls seldom change. `fillfactor` leaves room for the next version of a row beside it.

alter table channel set (fillfactor = 50);
alter table channel
  add column has_rest boolean not null generated always as (balance_micro > charged_micro) stored,
  add column owes boolean not null generated always as (charged_micro > claimed_micro + lost_micro) stored,
  add column is_under_way boolean not null generated always as (charged_micro + reserved_micro <> claimed_micro + lost_micro) stored,
  add column is_lossy boolean not null generated always as (charged_micro > balance_micro or lost_micro > 0) stored;

comment on column channel.has_rest is 'holds more than was charged';
comment on column channel.owes is 'was charged more than is claimed or lost';
comment on column channel.is_under_way is 'owes, or has calls in flight';
comment on column channel.is_lossy is 'was charged more than it holds, or has a loss in the books';

drop index channel_open, channel_unclaimed, channel_under_way, channel_lossy;
create index channel_with_rest on channel (chain_id) where has_rest;
create index channel_owing on channel (chain_id, id) where owes;
create index channel_under_way on channel (chain_id, id) where is_under_way;
create index channel_lossy on channel (chain_id, id) where is_lossy;

-- Old charges are found by their creation, which never changes: one that ended before a time was created before it.
alter table channel_charge set (fillfactor = 50);
drop index channel_charge_ended;
create index channel_charge_created on channel_charge (created_at);
