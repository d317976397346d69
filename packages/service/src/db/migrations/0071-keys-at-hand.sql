-- Processes keep copies of the keys, sessions and identityTokens that are in use (access/sessions): the change log names what ends one or
-- gives it other rights. The time of the last use is left out.
create trigger api_key_changed after update of account_id, name, secret_hash, scopes, expires_at, revoked_at, kind, budget_id, per_call_micro,
    per_day_micro, allowed_agents on api_key
  for each row when (
    (old.account_id, old.name, old.secret_hash, old.scopes, old.expires_at, old.revoked_at, old.kind, old.budget_id, old.per_call_micro,
     old.per_day_micro, old.allowed_agents)
    is distinct from
    (new.account_id, new.name, new.secret_hash, new.scopes, new.expires_at, new.revoked_at, new.kind, new.budget_id, new.per_call_micro,
     new.per_day_micro, new.allowed_agents)
  ) execute function note_replica_change('key');
create trigger api_key_gone after delete on api_key for each row execute function note_replica_change('key');

-- An account with a valid key of the scope `operator` has it in its sessions.
create function note_operator_change() returns trigger language plpgsql as $$
begin
  insert into replica_change (topic, id) values ('account', coalesce(new.account_id, old.account_id));
  return null;
end
$$;
create trigger operator_key_added after insert on api_key
  for each row when (new.kind = 'key' and 'operator' = any(new.scopes)) execute function note_operator_change();
create trigger operator_key_changed after update of scopes, expires_at, revoked_at on api_key
  for each row when (old.kind = 'key' and 'operator' = any(old.scopes || new.scopes)
    and (old.scopes, old.expires_at, old.revoked_at) is distinct from (new.scopes, new.expires_at, new.revoked_at))
  execute function note_operator_change();
create trigger operator_key_gone after delete on api_key
  for each row when (old.kind = 'key' and 'operator' = any(old.scopes)) execute function note_operator_change();

-- The limits of an account depend on the listed node that its wallet signed in as. The node names the wallet: a look-up of the accounts
-- here would miss one whose sign-in is not committed yet.
create trigger account_node_changed after update of node_url on account
  for each row when (old.node_url is distinct from new.node_url) execute function note_replica_change('account');
create function note_node_wallet() returns trigger language plpgsql as $$
begin
  insert into replica_change (topic, id)
  select distinct 'wallet', wallet from unnest(array[old.wallet, new.wallet]) as wallet where wallet is not null;
  return null;
end
$$;
create trigger node_wallet_added after insert or delete on network_node for each row execute function note_node_wallet();
create trigger node_wallet_changed after update of base_url, wallet, status, is_listed on network_node
  for each row when ((old.base_url, old.wallet, old.status, old.is_listed)
    is distinct from (new.base_url, new.wallet, new.status, new.is_listed))
  execute function note_node_wallet();
