alter table chain_transaction add column cost_wei numeric(38);
comment on column chain_transaction.cost_wei is 'Wei for gas: the most that it may cost until it is mined, then what it cost; null: sent before this column was there.';
create index chain_transaction_day on chain_transaction (chain_id, created_at);
