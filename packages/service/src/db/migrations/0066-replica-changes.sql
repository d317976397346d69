-- Rows that processes keep copies of in memory (src/replica) and that changed, noted by the transaction that changed them. Triggers write
-- them: no writer can forget to. A copy is read again, not patched, so a row here says only which one.
create table replica_change (
  xid xid8 not null default pg_current_xact_id(),
  topic text not null,
  id text not null,
  changed_at timestamptz not null default clock_timestamp()
);
create index replica_change_xid on replica_change (xid) include (topic, id);

-- The last transaction whose changes were forgotten: a process that has not seen it loads everything anew.
create table replica_forgotten (
  is_only boolean primary key default true check (is_only),
  xid xid8 not null
);
insert into replica_forgotten (xid) values ('0');

-- For each row: notes its id under the topic that the trigger names.
create function note_replica_change() returns trigger language plpgsql as $$
begin
  insert into replica_change (topic, id) values (tg_argv[0], coalesce(new.id, old.id));
  return null;
end
$$;

-- The columns that only checks and reports move are left out: nobody keeps copies of them.
create trigger agent_added after insert or delete on agent
  for each row execute function note_replica_change('agent');
create trigger agent_changed after update of account_id, owner_address, name, description, capabilities, per_request_micro, per_hour_micro,
    tiers, endpoint, metadata, status, reputation, token_hash, token_sealed, endpoint_proven_at, response_ms, is_accepting, home_node, token_id,
    frozen_at on agent
  for each row when (
    (old.account_id, old.owner_address, old.name, old.description, old.capabilities, old.per_request_micro, old.per_hour_micro,
     old.tiers::text, old.endpoint, old.metadata::text, old.status, old.reputation, old.token_hash, old.token_sealed, old.endpoint_proven_at,
     old.response_ms, old.is_accepting, old.home_node, old.token_id, old.frozen_at)
    is distinct from
    (new.account_id, new.owner_address, new.name, new.description, new.capabilities, new.per_request_micro, new.per_hour_micro,
     new.tiers::text, new.endpoint, new.metadata::text, new.status, new.reputation, new.token_hash, new.token_sealed, new.endpoint_proven_at,
     new.response_ms, new.is_accepting, new.home_node, new.token_id, new.frozen_at)
  ) execute function note_replica_change('agent');

create trigger account_changed after update of address, plan, wallet_proven_at on account
  for each row when ((old.address, old.plan, old.wallet_proven_at) is distinct from (new.address, new.plan, new.wallet_proven_at))
  execute function note_replica_change('account');

create trigger node_changed after update of base_url, label, wallet on network_node
  for each row when ((old.base_url, old.label, old.wallet) is distinct from (new.base_url, new.label, new.wallet))
  execute function note_replica_change('node');
