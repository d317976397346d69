-- Since when the URI of a token is as it is, and who held the token when it was written last: it is the word of that key. Both follow
-- from the logs, like the rest of the row.
alter table registry_token add column uri_block bigint, add column uri_index integer, add column uri_by text;
with said as (
  select l.chain_id, l.token_id, l.block_number, l.log_index, l.value = t.uri as is_same
    from registry_token t join registry_log l using (chain_id, token_id) where l.kind in ('registered', 'uri')
), since as (
  select distinct on (chain_id, token_id) s.* from said s
   where is_same and not exists (
     select from said o where (o.chain_id, o.token_id) = (s.chain_id, s.token_id) and not o.is_same
        and (o.block_number, o.log_index) > (s.block_number, s.log_index))
   order by chain_id, token_id, block_number, log_index
)
update registry_token t set uri_block = s.block_number, uri_index = s.log_index, uri_by = (
    select o.value from registry_log o
     where (o.chain_id, o.token_id) = (t.chain_id, t.token_id) and o.kind = 'owner'
       and (o.block_number, o.log_index) < (
         select l.block_number, l.log_index from registry_log l
          where (l.chain_id, l.token_id) = (t.chain_id, t.token_id) and l.kind in ('registered', 'uri')
          order by l.block_number desc, l.log_index desc limit 1)
     order by o.block_number desc, o.log_index desc limit 1)
  from since s where (s.chain_id, s.token_id) = (t.chain_id, t.token_id);
update registry_token set uri_block = registered_block, uri_index = 0 where uri_block is null;
update registry_token set uri_by = registered_by where uri_by is null;
alter table registry_token alter column uri_block set not null, alter column uri_index set not null, alter column uri_by set not null;

-- Finds the first log that names an agent by the end of its address: `/agents/{id}/registration.json`, 56 characters.
create index registry_log_agent on registry_log (chain_id, right(value, 56), block_number, log_index)
  where kind in ('registered', 'uri') and value like '%/registration.json';

alter table network_entry add column uri_block bigint, add column uri_index integer, add column uri_by text;
update network_entry e set uri_block = t.uri_block, uri_index = t.uri_index, uri_by = t.uri_by
  from registry_token t where (t.chain_id, t.token_id) = (e.chain_id, e.token_id);
-- What was followed no further than this is taken over again.
delete from network_entry where uri_by is null;
alter table network_entry alter column uri_block set not null, alter column uri_index set not null, alter column uri_by set not null;
-- Agents that were listed by the number of their token are judged anew.
update network_entry set next_try_at = now(), tries = 0 where kind = 'agent';

-- What the id of an agent of this node was made with, for others to see whose it is; null for ids that say nothing.
alter table agent add column id_salt bytea;
