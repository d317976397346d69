import type { SlotLimits } from '../../config/limits.ts';
import type { Sql } from '../../store/sql.ts';
import type { Invocation } from '../invocation.ts';
import { invocationColumns } from '../invocation-store.ts';
import type { SlotLoad } from './slots.ts';

const isQueued = `status = 'pending' and worker is null and payment_method <> 'x402'`;

export const HAS_QUEUED = `(select min(deadline) from invocation where ${isQueued}) is not null`;
export const HAS_OVERDUE = `(select min(deadline) from invocation where ${isQueued}) <= given.now`;

/** True when invocations are queued because all processes, or their tenant or agent, had no free slot. */
export async function hasQueued(sql: Sql): Promise<boolean> {
  const [row] = await sql.query<{ found: boolean }>('has-queued', `select ${HAS_QUEUED} as found`);
  return row?.found ?? false;
}

/** The line of a priority and of agents, within that of a tenant. */
export interface LineOf extends Pick<Invocation, 'priority'> {
  readonly tenant: string;
  readonly agentIds: readonly string[];
}

/** Number of queued requests of a tenant, counted up to `most`, and since when the first one of a priority for these agents waits. */
export async function readLine(
  sql: Sql,
  { tenant, priority, agentIds }: LineOf,
  most: number,
): Promise<{ readonly count: number; readonly firstSince: Date | null }> {
  const [row] = await sql.query<{ count: number; firstSince: Date | null }>(
    'read-line',
    `select (select count(*)::int from (select from invocation where ${isQueued} and lane = $1 limit $2) waiting) as count,
            (select created_at from invocation
              where ${isQueued} and lane = $1 and queue_rank = array_position(array['high', 'normal', 'low'], $3::text) - 1
                and agent_id = any($4) order by created_at limit 1) as "firstSince"`,
    [tenant, most, priority, agentIds],
  );
  return row ?? { count: 0, firstSince: null };
}

/** The tenants (column `lane`) after one with a queued request for an agent other than these: one index step for each. */
const tenantsInQueue = (after: string, agents: string, limit: string) => `
  (select lane, 1 as number from invocation where ${isQueued} and lane > ${after} and agent_id <> all(${agents})
    order by lane limit 1)
  union all
  select next.lane, line.number + 1 from line cross join lateral (
    select v.lane from invocation v where ${isQueued} and v.lane > line.lane and v.agent_id <> all(${agents})
     order by v.lane limit 1) next
   where line.number < ${limit}`;

export async function queuedTenants(sql: Sql, most: number): Promise<string[]> {
  const rows = await sql.query<{ tenant: string }>(
    'queued-tenants',
    `with recursive line as (${tenantsInQueue(`''`, `'{}'::text[]`, '$1')}) select lane as tenant from line`,
    [most],
  );
  return rows.map(({ tenant }) => tenant);
}

/** The free capacity of a process, given the slots in use. Tenants are read in the order of their names, after one. */
export interface Line {
  readonly room: number;
  readonly load: SlotLoad;
  readonly afterTenant: string;
  readonly limits: Pick<SlotLimits, 'maxPerTenant' | 'maxPerAgent'>;
}

const MAX_TENANTS = 1000;

/**
 * Takes queued invocations: the tenant with the fewest slots first; within a tenant high priority first, then first come, first served; within
 * the shares of tenants and agents.
 */
export const takeQueued = (
  sql: Sql,
  worker: string,
  now: Date,
  { room, load, afterTenant, limits }: Line,
): Promise<Invocation[]> => {
  const full = [...load.agents].filter(([, count]) => count >= limits.maxPerAgent).map(([agentId]) => agentId);
  return sql.query<Invocation>(
    'take-queued',
    `with recursive line as (${tenantsInQueue('$4', '$9', String(MAX_TENANTS))}),
     tenant_load as (select * from unnest($5::text[], $6::int[]) as l(lane, slots)),
     agent_load as (select * from unnest($7::text[], $8::int[]) as a(agent_id, slots)),
     candidate as (
       select first.*, coalesce(l.slots, 0) + first.nth as turn
         from line left join tenant_load l using (lane) cross join lateral (
           select v.id, v.agent_id, v.queue_rank, v.created_at,
                  row_number() over (order by v.queue_rank, v.created_at, v.id) as nth
             from invocation v where ${isQueued} and v.lane = line.lane and v.agent_id <> all($9)
            order by v.queue_rank, v.created_at, v.id limit least($3, greatest(0, $10 - coalesce(l.slots, 0)))) first
     ), ranked as (
       select c.*, coalesce(a.slots, 0) + row_number() over (
                partition by c.agent_id order by c.turn, c.queue_rank, c.created_at, c.id) as agent_turn
         from candidate c left join agent_load a using (agent_id)
     )
     update invocation set status = 'processing', started_at = $2, worker = $1, attempt = attempt + 1
      where id in (
        select v.id from invocation v join ranked r on r.id = v.id where ${isQueued.replaceAll(/status|worker|payment_method/g, 'v.$&')} and r.agent_turn <= $11
         order by r.turn, r.queue_rank, r.created_at, r.id limit $3 for update of v skip locked)
      returning ${invocationColumns}`,
    [
      ...[worker, now, room, afterTenant],
      ...[[...load.tenants.keys()], [...load.tenants.values()], [...load.agents.keys()], [...load.agents.values()]],
      ...[full, limits.maxPerTenant, limits.maxPerAgent],
    ],
  );
};

/** Queued requests past their deadline, except those in `triedIds`. No process needs to take them; ending them is enough. */
export const findOverdue = (
  sql: Sql,
  now: Date,
  { triedIds, limit }: { triedIds: readonly string[]; limit: number },
): Promise<Invocation[]> =>
  sql.query<Invocation>(
    'find-overdue',
    `select ${invocationColumns} from invocation
      where ${isQueued} and deadline <= $1 and id <> all($3) limit $2`,
    [now, limit, triedIds],
  );
