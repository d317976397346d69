-- Agents that too few independent customers have paid for their score to say much. Processes of the release before leave new ones new.
alter table agent add column is_new boolean not null default true;
update agent g set is_new = false from agent_reputation r
 where r.agent_id = g.id
   and (r.parts -> 'outcomes' ->> 'crediblePayers')::integer + (r.parts -> 'outcomes' ->> 'weakPayers')::integer >= 3;
create trigger agent_newness_changed after update of is_new on agent
  for each row when (old.is_new is distinct from new.is_new) execute function note_replica_change('agent');
