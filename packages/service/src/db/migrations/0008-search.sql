-- What agents are found by: derived from `agent`, and rewritten in the transaction that changes one.
-- One row per agent and capability, and one with capability '' for every agent. The covering indexes answer filter, order, page
-- and count within one capability without touching the agents.
drop table agent_listing;
create table agent_listing (
  agent_id text not null,
  capability text not null,
  reputation integer not null,
  is_online boolean not null,
  is_verified boolean not null,
  price_micro bigint not null,
  per_hour_micro bigint not null,
  primary key (agent_id, capability)
);

-- How many agents a term has ('': all agents). Changes are only ever added, so agents that change at once never wait for each
-- other; a total is the sum, exact in every snapshot. Rows are folded together from time to time.
create table agent_count (
  term text not null,
  is_online boolean not null,
  is_verified boolean not null,
  change integer not null,
  is_folded boolean not null
);

-- One narrow row per agent for all other searches. `terms` holds its capabilities behind a '=' and its words; those of the name
-- once more behind a '#', those of name and tags behind a '+'.
create table agent_search (
  agent_id text primary key,
  reputation integer not null,
  is_online boolean not null,
  is_verified boolean not null,
  price_micro bigint not null,
  per_hour_micro bigint not null,
  -- Infinity: not measured yet.
  response_ms double precision not null,
  created_at timestamptz not null,
  name text collate "C" not null,
  terms tsvector not null
) with (fillfactor = 90);
-- Which way is best is known from the counts; looking it up in statistics of terms would take longer than many a search.
alter table agent_search alter column terms set statistics 0;

insert into agent_listing
select g.id, c, g.reputation, g.status = 'online', g.endpoint_proven_at is not null and a.wallet_proven_at is not null,
       g.per_request_micro, g.per_hour_micro
  from agent g join account a on a.id = g.account_id cross join unnest(g.capabilities || '{""}'::text[]) as c
 where g.status <> 'removed';

insert into agent_search
select l.agent_id, l.reputation, l.is_online, l.is_verified, l.price_micro, l.per_hour_micro,
       coalesce(g.response_ms, 'Infinity'), g.created_at, lower(g.name), array_to_tsvector((
         select array_agg(distinct term) from (
           select '=' || capability as term from unnest(g.capabilities) as capability
           union select mark || word from (values
             (g.name, '{"",+,#}'::text[]), (g.metadata ->> 'tags', '{"",+}'), (g.description, '{""}')) as part (text, marks)
             cross join regexp_split_to_table(lower(part.text), '[^[:alnum:]]+') as word cross join unnest(part.marks) as mark
            where word <> ''
         ) as each))
  from agent_listing l join agent g on g.id = l.agent_id where l.capability = '';

insert into agent_count
select term, is_online, is_verified, count(*), true
  from agent_search cross join unnest(tsvector_to_array(terms) || '{""}'::text[]) as term group by term, is_online, is_verified;

create index agent_listing_reputation on agent_listing (capability, reputation desc, agent_id)
  include (is_online, is_verified, price_micro, per_hour_micro);
create index agent_listing_price on agent_listing (capability, price_micro, agent_id)
  include (is_online, is_verified, reputation, per_hour_micro);
create index agent_count_term on agent_count (term) include (is_online, is_verified, change);
create index agent_count_open on agent_count (term) where not is_folded;
create index agent_search_terms on agent_search using gin (terms) with (fastupdate = off);
create index agent_search_created on agent_search (created_at, agent_id);
create index agent_search_name on agent_search (name, agent_id);
