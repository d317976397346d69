-- Numbers as levels in place of binary digits: a limit is read from a few sets, whatever its digits, and the agents that come first
-- in an order from one or three.
-- The step of an amount: its first three digits, and how many follow. Counted from one below, so that a limit of few digits is the
-- end of a step. `amountStep` in search-levels.ts says the same.
create or replace function amount_step(micro bigint) returns integer language sql immutable parallel safe
  return case when micro <= 1000 then greatest(micro - 1, 0)::integer
    else (length((micro - 1)::text) - 3) * 1000 + left((micro - 1)::text, 3)::integer end;

create function amount_levels(marks text[], step integer) returns text[] language sql immutable parallel safe
  return marks[1 : step / 1000] || marks[17 : 16 + step / 100 % 10] || marks[26 : 25 + step / 10 % 10] || marks[35 : 34 + step % 10];

-- The sets that an agent is in besides those of its terms: '' (all), its states, and of each digit of its reputation and of the
-- steps of its prices one for every level up to it. search-levels.ts reads them.
do $do$
declare
  made constant text := $sql$
    create or replace function agent_marks(is_online boolean, is_verified boolean, reputation integer, price_micro bigint,
                                           per_hour_micro bigint)
      returns text[] language sql immutable parallel safe
      return '{""}'::text[] || case when is_online then '{!online}'::text[] end || case when is_verified then '{!verified}'::text[] end
        || (%L::text[])[1 : reputation / 25] || (%L::text[])[1 : reputation %% 25 / 5] || (%L::text[])[1 : reputation %% 5]
        || amount_levels(%L, amount_step(price_micro)) || amount_levels(%L, amount_step(per_hour_micro))$sql$;
  r2 text[] := array(select '!r2:' || level from generate_series(1, 40) as level);
  r1 text[] := array(select '!r1:' || level from generate_series(1, 4) as level);
  r0 text[] := array(select '!r0:' || level from generate_series(1, 4) as level);
  p text[] := array(select '!p3:' || level from generate_series(1, 16) as level)
    || array(select '!p2:' || level from generate_series(1, 9) as level)
    || array(select '!p1:' || level from generate_series(1, 9) as level)
    || array(select '!p0:' || level from generate_series(1, 9) as level);
begin
  -- The names are written out in the function: making them each time would take longer than all else that listing an agent does.
  execute format(made, r2, r1, r0, p, replace(p::text, '!p', '!h'));
end
$do$;

delete from agent_bits where term ~ '^![rph]';
update agent_toggle set terms = array(select term from unnest(terms) as term where term !~ '^![rph]');
insert into agent_bits
select term, block, case when count >= 64 then bits end, case when count < 64 then bits end from (
  select term, block, count(*), string_agg(repeat('0', gap) || '1', '' order by slot)::bit varying::bit(65536) as bits from (
    select term, slot >> 16 as block, slot,
           slot - coalesce(lag(slot) over (partition by term, slot >> 16 order by slot), ((slot >> 16) << 16) - 1) - 1 as gap
      from (select slot, unnest(agent_marks(is_online, is_verified, reputation, price_micro, per_hour_micro)) collate "C" as term
              from agent_search) as member
     where term ~ '^![rph]'
  ) as each group by term, block
) as kept;

-- How quickly agents answer, apart from all else, as it changes with every check: walked by whoever sorts by it.
create table agent_response (
  slot integer primary key,
  agent_id text not null,
  -- Infinity: not measured yet.
  response_ms double precision not null
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
insert into agent_response select slot, agent_id, response_ms from agent_search;
create index agent_response_ms on agent_response (response_ms, agent_id) include (slot);
alter table agent_search drop column response_ms;

-- An agent with all that it may be sorted by.
create view agent_found as select s.*, r.response_ms from agent_search s join agent_response r using (slot);

-- Whoever looks for agents by slot, or walks past them, need not open their rows. None of these columns changes but the name.
drop index agent_search_slot, agent_search_created, agent_search_name;
create unique index agent_search_slot on agent_search (slot) include (agent_id, created_at, name);
create index agent_search_created on agent_search (created_at, agent_id) include (slot);
create index agent_search_name on agent_search (name, agent_id) include (slot);
