-- Durations and times of answers in steps of an eighth of a doubling, from one millisecond up; -1: not measured. `middleMs` in
-- percentile.ts says the same.
create function duration_bin(ms double precision) returns smallint language sql immutable parallel safe
  return case when ms is null then -1 else least(greatest(floor(8 * ln(greatest(ms, 1)) / ln(2.0::double precision)), 0), 250) end::smallint;

-- What calls that ended add to the figures, and what changed of their cost since. Only ever added to, so calls that end at once never
-- wait for each other; a job carries it into `call_figure`, and until then it is read beside that.
create table call_change (
  account_id text not null,
  agent_id text not null,
  agent_account_id text not null,
  -- The hour (UTC) in which the request was made.
  made_at timestamptz not null,
  bin smallint not null,
  calls integer not null,
  completed integer not null,
  failed integer not null,
  spent_micro bigint not null,
  earned_micro bigint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_analyze_threshold = 1000000000);

-- The same by hour and by day (UTC): calls that an account made, calls of its agents, and (by day, without times) those of each agent.
create table call_figure (
  subject_id text not null,
  side text not null check (side in ('made', 'received')),
  span text not null check (span in ('hour', 'day')),
  start timestamptz not null,
  bin smallint not null,
  calls bigint not null,
  completed bigint not null,
  failed bigint not null,
  -- made: spent; received: earned.
  amount_micro bigint not null,
  primary key (subject_id, side, span, start, bin)
) with (fillfactor = 80);
create index call_figure_hour on call_figure (start) where span = 'hour';

insert into call_change (account_id, agent_id, agent_account_id, made_at, bin, calls, completed, failed, spent_micro, earned_micro)
select v.account_id, v.agent_id, g.account_id, date_trunc('hour', v.created_at, 'UTC'),
       duration_bin(case when v.status = 'completed' then extract(epoch from v.completed_at - v.started_at) * 1000 end),
       count(*), count(*) filter (where v.status = 'completed'), count(*) filter (where v.status = 'failed'),
       coalesce(sum(v.cost_micro), 0), coalesce(sum(c.amount_micro - coalesce(f.amount_micro, 0)), 0)
  from invocation v join agent g on g.id = v.agent_id
  left join transfer c on c.id = 'charge:' || v.id and c.kind = 'charge'
  left join transfer f on f.id = 'fee:' || v.id and f.kind = 'fee'
 where v.completed_at is not null
 group by 1, 2, 3, 4, 5;

-- Health checks by hour and by day (UTC), and how long the answers took; -1 for those that did not come. Hours are kept for two days,
-- days for thirty.
create table agent_health (
  agent_id text not null references agent,
  span text not null check (span in ('hour', 'day')),
  start timestamptz not null,
  bin smallint not null,
  checks integer not null,
  failed integer not null,
  primary key (agent_id, span, start, bin)
) with (fillfactor = 50);
insert into agent_health (agent_id, span, start, bin, checks, failed)
select agent_id, 'day', day::timestamp at time zone 'UTC', -1, probes, probes - passed from agent_probe_day;

-- What an account sees of its own.
drop index agent_account;
create index agent_account on agent (account_id, id);
create index invocation_failed on invocation (account_id, completed_at desc) where status = 'failed';

-- How late the event loop of a process was, since it last said so: median, 99th percentile and most, in milliseconds.
alter table process add column event_loop_delay_ms double precision[];

-- The node at which an agent is at home, as a term: behind an '@', which no word begins with.
create temporary table home_term on commit drop as
  select s.slot, s.agent_id, s.is_online, s.is_verified, '@' || g.home_node as term
    from agent_search s join agent g on g.id = s.agent_id where g.home_node is not null;
update agent_search s set terms = array_to_tsvector(tsvector_to_array(s.terms) || t.term) from home_term t where t.agent_id = s.agent_id;
insert into agent_toggle (slot, terms) select slot, array[term] from home_term;
insert into agent_count (term, is_online, is_verified, change, is_folded)
select term, is_online, is_verified, count(*), false from home_term group by 1, 2, 3;
