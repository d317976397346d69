import type { Sql } from '../db/sql.ts';
import { UPTIME_DAYS } from './reputation.ts';

/** Counts a probe of an agent, and works out what its last days add up to. Older days are forgotten. */
export async function addProbe(sql: Sql, agentId: string, hasPassed: boolean, now: Date): Promise<void> {
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
     ), old as (
       delete from agent_probe_day d using asked where d.agent_id = $1 and d.day <= asked.day - $4::int
     )
     update agent_totals t set probes = today.probes + before.probes, probes_passed = today.passed + before.passed
       from today, before where t.agent_id = $1`,
    [agentId, hasPassed ? 1 : 0, now, UPTIME_DAYS],
  );
}
