-- Replaced versions are removed after two days, whatever becomes of their agent; the present one of a removed agent counts as replaced. An agent
-- of another node may come back, with the same version.
create index agent_types_replaced on agent_types (replaced_at) where replaced_at is not null;
-- Each version that is removed is looked for here.
create index agent_types_used on agent (types_id) where types_id is not null;
with removed as (
  update agent g set types_id = null
    from (select id, types_id from agent where status = 'removed' and home_node is null and types_id is not null for update) old
   where g.id = old.id returning old.types_id
)
update agent_types set replaced_at = now() from removed where agent_types.id = removed.types_id;
