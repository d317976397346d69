-- The protocol of an agent's endpoint, and how it is called (tool, model, names of headers). The values of the headers are sealed together
-- with the origin that they are for. Agents of other nodes are called through their homes: the defaults.
alter table agent
  add column protocol text not null default 'http',
  add column upstream json not null default '{}',
  add column upstream_headers_sealed bytea,
  -- Digest of what the endpoint takes, as of the last proof or acceptance; null: not read yet.
  add column upstream_digest text,
  -- What the last check found wrong, for the owner.
  add column fault text;

-- Calls come from copies in memory (migration 0066).
create trigger agent_upstream_changed after update of protocol, upstream, upstream_headers_sealed on agent
  for each row when (old.protocol is distinct from new.protocol or old.upstream::text is distinct from new.upstream::text
    or old.upstream_headers_sealed is distinct from new.upstream_headers_sealed)
  execute function note_replica_change('agent');
