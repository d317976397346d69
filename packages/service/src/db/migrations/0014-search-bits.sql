-- Sets of agents as rows of bits, so that any search is counted by a few operations on bits whatever the number of matches.
-- An agent's place in them is its slot, given once and never again.
alter table agent_search add column slot integer generated always as identity;
create unique index agent_search_slot on agent_search (slot);
drop index agent_search_terms;

alter table agent_listing rename to agent_listing_before;
create table agent_listing (
  agent_id text not null,
  capability text not null,
  reputation integer not null,
  is_online boolean not null,
  is_verified boolean not null,
  price_micro bigint not null,
  per_hour_micro bigint not null,
  slot integer not null
);
insert into agent_listing
select l.agent_id, l.capability, l.reputation, l.is_online, l.is_verified, l.price_micro, l.per_hour_micro, s.slot
  from agent_listing_before l join agent_search s using (agent_id);
drop table agent_listing_before;
alter table agent_listing add primary key (agent_id, capability);
create index agent_listing_reputation on agent_listing (capability, reputation desc, agent_id)
  include (is_online, is_verified, price_micro, per_hour_micro, slot);
create index agent_listing_price on agent_listing (capability, price_micro, agent_id)
  include (is_online, is_verified, reputation, per_hour_micro, slot);
create index agent_listing_hour on agent_listing (per_hour_micro, agent_id)
  include (reputation, price_micro, slot) where capability = '';
create index agent_listing_slot on agent_listing (slot)
  include (agent_id, reputation, price_micro, per_hour_micro) where capability = '';

-- The step of an amount: exact below 64, then 64 steps to each doubling. `amountStep` in search-bits.ts says the same.
create function amount_step(micro bigint) returns integer language sql immutable parallel safe
  return case when micro < 64 then micro::integer else
    ((59 - position(B'1' in micro::bit(64))) * 64 + (micro >> (58 - position(B'1' in micro::bit(64)))) - 64)::integer end;

-- The sets that an agent is in besides those of its terms: '' (all), its states, and one for each digit that is 1 in its
-- reputation and in the steps of its prices.
create function agent_marks(is_online boolean, is_verified boolean, reputation integer, price_micro bigint, per_hour_micro bigint)
  returns text[] language sql immutable parallel safe
  return '{""}'::text[] || case when is_online then '{!online}'::text[] end || case when is_verified then '{!verified}'::text[] end
    || array(select '!r' || digit from generate_series(0, 9) as digit where (reputation >> digit) & 1 = 1)
    || array(select '!p' || digit from generate_series(0, 11) as digit where (amount_step(price_micro) >> digit) & 1 = 1)
    || array(select '!h' || digit from generate_series(0, 11) as digit where (amount_step(per_hour_micro) >> digit) & 1 = 1);

-- Bit `slot % 65536` of block `slot / 65536` tells whether an agent is in the set of a term, or of a mark.
create table agent_bits (
  term text collate "C" not null,
  block integer not null,
  -- One of the two: few bits are kept compressed; unpacking many would take longer than all else that a search does.
  dense bit varying,
  sparse bit varying,
  primary key (term, block)
);
alter table agent_bits alter dense set storage external;

-- What changed since: the sets that an agent joined or left. Only ever added to, so agents that change at once never wait for
-- each other; a job carries it into the bits. Until then a search looks at these agents one by one.
create table agent_toggle (
  slot integer not null,
  terms text[] not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_analyze_threshold = 1000000000);
create index agent_toggle_slot on agent_toggle (slot);

insert into agent_bits
select term, block, case when count >= 64 then bits end, case when count < 64 then bits end from (
  select term, block, count(*), string_agg(repeat('0', gap) || '1', '' order by slot)::bit varying::bit(65536) as bits from (
    select term, slot >> 16 as block, slot,
           slot - coalesce(lag(slot) over (partition by term, slot >> 16 order by slot), ((slot >> 16) << 16) - 1) - 1 as gap
      from (select slot, unnest(tsvector_to_array(terms)
                     || agent_marks(is_online, is_verified, reputation, price_micro, per_hour_micro)) collate "C" as term
              from agent_search) as member
  ) as each group by term, block
) as kept;
