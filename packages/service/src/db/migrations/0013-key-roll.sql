-- The key that took this one's place.
alter table api_key add column replaced_by text;
-- Whose treasuries.
create index ledger_account_account on ledger_account (account_id) where account_id is not null;
