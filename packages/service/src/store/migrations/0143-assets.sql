-- Assets beside the default one: their ledger accounts have ids that end in `@` and the asset's CAIP-19 id. Processes of the release before write
-- accounts of the default asset only.
create table asset (
  id text primary key,
  chain_id int not null unique,
  token text not null,
  is_default boolean not null
);
comment on table asset is 'Assets that the books have or had, each the one token of a network. Rows stay when a network is removed from the settings.';
comment on column asset.id is 'CAIP-19: eip155:<chain id>/erc20:<address>';
create unique index asset_default on asset (is_default) where is_default;

alter table ledger_account add column asset text;
comment on column ledger_account.asset is 'CAIP-19 id of the asset; null: the default asset of the node.';
alter table ledger_account add constraint ledger_account_asset_check
  check (asset is not distinct from nullif(split_part(id, '@', 2), '')) not valid;

-- One treasury, agent's account, payer's account and suspense account in each asset.
drop index ledger_account_agent, ledger_account_payer, ledger_account_suspense, ledger_account_treasury;
create unique index ledger_account_agent on ledger_account (agent_id, coalesce(asset, '')) where kind = 'agent';
create unique index ledger_account_payer on ledger_account (address, coalesce(asset, '')) where kind = 'payer';
create unique index ledger_account_suspense on ledger_account (address, coalesce(asset, '')) where kind = 'suspense';
create unique index ledger_account_treasury on ledger_account (account_id, coalesce(asset, '')) where kind = 'treasury';

alter table ledger_total add column asset text;

-- Balances never add up across assets. Not validated: the transfers of before have none, and are many.
alter table transfer add constraint transfer_asset_check check (split_part(debit, '@', 2) = split_part(credit, '@', 2)) not valid;

-- Whether the reserves of an asset drift.
alter table reserves_watch drop constraint reserves_watch_pkey, add column asset text;
create unique index reserves_watch_asset on reserves_watch (asset) nulls not distinct;
