import type { RequestStatus } from '@agent-network/contracts/invocations/invocations';
import type { Sql } from '../../db/sql.ts';

/** The sums do not contain open requests; limits bound their number. */
const open = `from invocation where account_id = $1 and status in ('pending', 'processing')`;

/** The condition that a time is within the one that is asked about. */
type Within = (time: string) => string;

/** The requests of an account within a time: stored sums, changes that are not folded yet, and open requests. */
const usedWithin = (within: Within) => `
  select agent_id, calls, completed, failed, 0 as pending, 0 as processing, spent_micro from agent_use where account_id = $1 and ${within('day')}
  union all
  select agent_id, calls, completed, failed, 0, 0, spent_micro from call_change where account_id = $1 and ${within('made_at')}
  union all
  select agent_id, 1, 0, 0, (status = 'pending')::int, (status = 'processing')::int, 0 ${open} and ${within('created_at')}`;

/** Number and cost of requests. */
export interface UseSum {
  readonly requests: bigint;
  readonly spentMicro: bigint;
}

/** The number of requests in a sum, by status. */
const callsOf: Readonly<Record<RequestStatus, string>> = {
  pending: 'pending',
  processing: 'processing',
  completed: 'completed',
  failed: 'failed',
  cancelled: 'calls - completed - failed - pending - processing',
};

/** Cost of failed or cancelled requests: what an agent collected, or its home keeps. Few have any, and an index lists them. */
const lostWithin = (statuses: string, within: Within) => `
  (select coalesce(sum(cost_micro), 0) from invocation
    where account_id = $1 and status in (${statuses}) and cost_micro > 0
      and ($2::text is null or agent_id = $2) and ${within('created_at')})`;

/** The cost of the requests in a sum, by status. */
const spentOf: Readonly<Record<RequestStatus, (within: Within) => string>> = {
  pending: () => '0',
  processing: () => '0',
  completed: (within) => `coalesce(sum(spent_micro), 0) - ${lostWithin(`'failed', 'cancelled'`, within)}`,
  failed: (within) => lostWithin(`'failed'`, within),
  cancelled: (within) => lostWithin(`'cancelled'`, within),
};

/** Sums of an account's requests on whole days (UTC), in total or to one agent, of any status or of one. */
export const sumUse = (
  sql: Sql,
  of: {
    accountId: string;
    agentId: string | null;
    status: RequestStatus | null;
    from: Date | null;
    before: Date | null;
  },
): Promise<UseSum[]> => {
  const within = (time: string) =>
    `($3::timestamptz is null or ${time} >= $3) and ($4::timestamptz is null or ${time} < $4)`;
  const calls = of.status === null ? 'calls' : callsOf[of.status];
  const spent = of.status === null ? 'coalesce(sum(spent_micro), 0)' : spentOf[of.status](within);
  return sql.query<UseSum>(
    `sum-use-${of.status ?? 'all'}`,
    `select coalesce(sum(${calls}), 0)::bigint as requests, (${spent})::bigint as "spentMicro"
       from (${usedWithin(within)}) used where $2::text is null or agent_id = $2`,
    [of.accountId, of.agentId, of.from, of.before],
  );
};

/** Open requests of an account since a time, by day of the request (UTC). */
export const countOpenByDay = (
  sql: Sql,
  accountId: string,
  since: Date,
): Promise<{ date: string; requests: bigint }[]> =>
  sql.query(
    'count-open-by-day',
    `select to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as date, count(*) as requests ${open} and created_at >= $2 group by 1`,
    [accountId, since],
  );

export interface AgentUseRow extends UseSum {
  readonly agentId: string;
  readonly agentName: string;
  readonly completed: bigint;
  readonly failed: bigint;
}

/** The agents that an account spent most on since a day began, at most `limit`. */
export const listAgentUse = (sql: Sql, accountId: string, since: Date, limit: number): Promise<AgentUseRow[]> =>
  sql.query<AgentUseRow>(
    'list-agent-use',
    `with used as (${usedWithin((time) => `${time} >= $2`)})
     select u.*, g.name as "agentName" from (
       select agent_id as "agentId", sum(calls)::bigint as requests, sum(completed)::bigint as completed, sum(failed)::bigint as failed,
              sum(spent_micro)::bigint as "spentMicro"
         from used group by 1 order by "spentMicro" desc, requests desc, 1 limit $3
     ) u join agent g on g.id = u."agentId" order by "spentMicro" desc, requests desc, "agentId"`,
    [accountId, since, limit],
  );
