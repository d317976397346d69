-- What calls used, and prices that follow it: the price of such a call is the most that it costs.
alter table invocation add column usage_terms json, add column usage json;
comment on column invocation.usage_terms is 'Least price, unit prices and maximum of a call that is paid by what it uses; null: it costs its price';
comment on column invocation.usage is 'What the call used; null: not known, or it has not ended';
create index invocation_usage on invocation (agent_id, completed_at desc) where usage is not null;

alter table quote add column usage_terms json;
comment on column quote.usage_terms is 'Terms by usage that the quote locks; null: the agent has none';

create or replace function note_former_terms() returns trigger language plpgsql as $$
declare former json := json_build_object(
  'perRequestMicro', old.per_request_micro::text, 'takesHints', coalesce((old.metadata->>'priceHints')::boolean, false),
  'sizeSteps', old.metadata->'sizeSteps', 'perUnit', old.metadata->'perUnit', 'perUsage', old.metadata->'perUsage');
begin
  delete from former_terms f where f.agent_id = old.id and (f.ended_at < now() - interval '2 days'
    or f.digest in (select digest from former_terms where agent_id = old.id order by (terms->>'perRequestMicro')::numeric offset 99));
  insert into former_terms (agent_id, digest, terms, ended_at) values (old.id, md5(former::text), former, now())
    on conflict (agent_id, digest) do update set ended_at = excluded.ended_at;
  return null;
end $$;
drop trigger agent_terms_changed on agent;
create trigger agent_terms_changed after update of per_request_micro, metadata on agent for each row when (
  old.per_request_micro is distinct from new.per_request_micro
  or old.metadata->>'priceHints' is distinct from new.metadata->>'priceHints'
  or (old.metadata->'sizeSteps')::text is distinct from (new.metadata->'sizeSteps')::text
  or (old.metadata->'perUnit')::text is distinct from (new.metadata->'perUnit')::text
  or (old.metadata->'perUsage')::text is distinct from (new.metadata->'perUsage')::text
) execute function note_former_terms();
