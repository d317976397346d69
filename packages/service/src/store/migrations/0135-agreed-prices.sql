-- The terms by which an account last paid an agent: a call that names no limit of its own pays no more by newer ones.
create table paid_terms (
  account_id text not null references account (id),
  agent_id text not null references agent (id),
  terms json not null,
  paid_at timestamptz not null,
  primary key (account_id, agent_id)
);
comment on table paid_terms is 'What the price of an agent followed when an account last paid it.';

create table former_terms (
  agent_id text not null references agent (id),
  digest text not null,
  terms json not null,
  ended_at timestamptz not null,
  primary key (agent_id, digest)
);
comment on table former_terms is 'What the price of an agent followed until it was changed, for a day: callers may have been told.';

-- By trigger, so that every change is noted: its owner's, its home node's, and those of an older process.
create function note_former_terms() returns trigger language plpgsql as $$
declare former json := json_build_object(
  'perRequestMicro', old.per_request_micro::text, 'takesHints', coalesce((old.metadata->>'priceHints')::boolean, false),
  'sizeSteps', old.metadata->'sizeSteps', 'perUnit', old.metadata->'perUnit');
begin
  delete from former_terms f where f.agent_id = old.id and (f.ended_at < now() - interval '2 days'
    or f.digest in (select digest from former_terms where agent_id = old.id order by (terms->>'perRequestMicro')::numeric offset 99));
  insert into former_terms (agent_id, digest, terms, ended_at) values (old.id, md5(former::text), former, now())
    on conflict (agent_id, digest) do update set ended_at = excluded.ended_at;
  return null;
end $$;
create trigger agent_terms_changed after update of per_request_micro, metadata on agent for each row when (
  old.per_request_micro is distinct from new.per_request_micro
  or old.metadata->>'priceHints' is distinct from new.metadata->>'priceHints'
  or (old.metadata->'sizeSteps')::text is distinct from (new.metadata->'sizeSteps')::text
  or (old.metadata->'perUnit')::text is distinct from (new.metadata->'perUnit')::text
) execute function note_former_terms();
