-- Nodes that pass questions of agents on to their callers, as their records say.
alter table network_node add column is_interactive boolean not null default false;
drop trigger node_changed on network_node;
create trigger node_changed after update of base_url, label, wallet, is_interactive on network_node
  for each row when ((old.base_url, old.label, old.wallet, old.is_interactive) is distinct from (new.base_url, new.label, new.wallet, new.is_interactive))
  execute function note_replica_change('node');
