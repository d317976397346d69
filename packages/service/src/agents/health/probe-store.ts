import type { Sql } from '../../store/sql.ts';
import { UPTIME_DAYS } from '../reputation/reputation.ts';

/**
 * Counts a probe of an agent and sums its last days. Deletes older days, and hours older than two days. `tookMs`: response time; null when
 * there was no answer.
 */
export async function addProbe(sql: Sql, agentId: string, tookMs: number | null, now: Date): Promise<void> {
  await sql.query(
    'add-probe',
    `with asked as (
       select ($3::timestamptz at time zone 'utc')::date as day
     ), today as (
       insert into agent_probe_day as d (agent_id, day, passed, probes) select $1, day, $2::int, 1 from asked
       on conflict (agent_id, day) do update set passed = d.passed + excluded.passed, probes = d.probes + 1
       returning passed, probes
     ), before as (
       select coalesce(sum(passed), 0) as passed, coalesce(sum(probes), 0) as probes from agent_probe_day, asked
        where agent_id = $1 and agent_probe_day.day < asked.day and agent_probe_day.day > asked.day - $4::int
     ), counted as (
       insert into agent_health as h (agent_id, span, start, bin, checks, failed)
       select $1, span, date_trunc(span, $3::timestamptz, 'UTC'), duration_bin($5), 1, 1 - $2::int from unnest('{hour,day}'::text[]) as span
       on conflict (agent_id, span, start, bin) do update set checks = h.checks + 1, failed = h.failed + excluded.failed
     ), forgotten as (
       delete from agent_health where agent_id = $1 and span = 'hour' and start < $3::timestamptz - interval '48 hours'
           or agent_id = $1 and span = 'day' and start <= date_trunc('day', $3::timestamptz, 'UTC') - $4::int * interval '1 day'
     ), old as (
       delete from agent_probe_day d using asked where d.agent_id = $1 and d.day <= asked.day - $4::int
     )
     update agent_totals t set probes = today.probes + before.probes, probes_passed = today.passed + before.passed
       from today, before where t.agent_id = $1`,
    [agentId, tookMs === null ? 0 : 1, now, UPTIME_DAYS, tookMs],
  );
}
