-- Short names that stand for agents. Rows stay when an agent is renamed or removed: a name that was paid by means nobody else later.
create table agent_slug (
  slug text not null,
  agent_id text not null references agent (id),
  seq bigint generated always as identity,
  primary key (slug, agent_id)
);
comment on table agent_slug is 'Agents of this node by the slugs of their names, in the order in which they took them (seq); the first is meant by the slug';
create index agent_slug_order on agent_slug (slug, seq);
create index agent_slug_agent on agent_slug (agent_id);

-- Agents from before get the slugs of plain names, the oldest first. Words of paths, and what looks like an id, are no slugs.
insert into agent_slug (slug, agent_id)
select slug, id from (
  select id, created_at, btrim(left(regexp_replace(lower(name), '[^0-9a-z]+', '-', 'g'), 60), '-') as slug
    from agent where home_node is null and status <> 'removed' and name ~ '^[ -~]+$'
) named
where slug ~ '^[0-9a-z]+(-[0-9a-z]+)*$' and slug !~ '(^|-)[0-9a-z]{26}$'
  and slug not in ('auto', 'bulk', 'history', 'export', 'search', 'match', 'facets', 'verify')
order by created_at, id;
