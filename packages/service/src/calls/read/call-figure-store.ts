import type { RequestStatus } from '@agent-network/contracts/invocations/invocations';
import type { Sql, Statement } from '../../store/sql.ts';

/** The change of figures by an ended call, or by a later change of its money. */
export interface CallChange {
  readonly accountId: string;
  readonly agentId: string;
  readonly madeAt: Date;
  /** Duration of completed work. */
  readonly durationMs: number | null;
  readonly calls: number;
  readonly completed: number;
  readonly failed: number;
  readonly spentMicro: bigint;
  readonly earnedMicro: bigint;
}

/** Appends changes; takes no lock. */
export function callChangesInserted(changes: readonly CallChange[]): Statement {
  const of = <T>(pick: (change: CallChange) => T) => changes.map(pick);
  return {
    name: 'insert-call-changes',
    text: `insert into call_change (account_id, agent_id, agent_account_id, made_at, bin, calls, completed, failed, spent_micro, earned_micro)
     select c.account_id, c.agent_id, g.account_id, date_trunc('hour', c.made_at, 'UTC'), duration_bin(c.ms),
            sum(c.calls), sum(c.completed), sum(c.failed), sum(c.spent), sum(c.earned)
       from unnest($1::text[], $2::text[], $3::timestamptz[], $4::float8[], $5::int[], $6::int[], $7::int[], $8::bigint[], $9::bigint[])
         as c(account_id, agent_id, made_at, ms, calls, completed, failed, spent, earned)
       join agent g on g.id = c.agent_id
      group by 1, 2, 3, 4, 5`,
    params: [
      of((c) => c.accountId),
      of((c) => c.agentId),
      of((c) => c.madeAt),
      of((c) => c.durationMs),
      of((c) => c.calls),
      of((c) => c.completed),
      of((c) => c.failed),
      of((c) => c.spentMicro),
      of((c) => c.earnedMicro),
    ],
  };
}

/** Expands a change by account, side, hour or day, and amount. */
const counted = `
  select account_id as subject_id, 'made' as side, made_at, bin, calls, completed, failed, spent_micro as amount_micro, true as has_hours from changes
  union all
  select agent_account_id, 'received', made_at, bin, calls, completed, failed, earned_micro, true from changes
  union all
  select agent_id, 'received', made_at, -1, calls, completed, failed, earned_micro, false from changes`;

/** Changes that are not folded, or hourly figures to remove. */
export const HAS_FIGURES_DUE = `exists (select from call_change)
  or (select min(start) from call_figure where span = 'hour') < given.now - interval '48 hours'`;

/** Folds at most `limit` changes into the figures and returns their number, in any order. */
export async function aggregateCallChanges(sql: Sql, limit: number): Promise<number> {
  const [row] = await sql.query<{ folded: bigint }>(
    'fold-call-changes',
    `with changes as (
       delete from call_change where ctid = any(array(select ctid from call_change limit $1 for update skip locked)) returning *
     ), counted as (${counted}), carried as (
       insert into call_figure as f (subject_id, side, span, start, bin, calls, completed, failed, amount_micro)
       select subject_id, side, span, date_trunc(span, made_at, 'UTC'), bin, sum(calls), sum(completed), sum(failed), sum(amount_micro)
         from counted cross join unnest('{hour,day}'::text[]) as span where span = 'day' or has_hours
        group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
       on conflict (subject_id, side, span, start, bin) do update
          set calls = f.calls + excluded.calls, completed = f.completed + excluded.completed, failed = f.failed + excluded.failed,
              amount_micro = f.amount_micro + excluded.amount_micro
     ), used as (
       insert into agent_use as u (account_id, day, agent_id, calls, completed, failed, spent_micro)
       select account_id, date_trunc('day', made_at, 'UTC'), agent_id, sum(calls), sum(completed), sum(failed), sum(spent_micro)
         from changes group by 1, 2, 3 order by 1, 2, 3
       on conflict (account_id, day, agent_id) do update
          set calls = u.calls + excluded.calls, completed = u.completed + excluded.completed, failed = u.failed + excluded.failed,
              spent_micro = u.spent_micro + excluded.spent_micro
     ), totals as (
       insert into account_totals as t (account_id, calls, spent_micro, earned_micro, seen_at)
       select account_id, sum(calls), sum(spent), sum(earned), max(seen_at) from (
         select account_id, calls, spent_micro as spent, 0 as earned,
                case when calls > 0 then date_trunc('minute', now()) else made_at end as seen_at from changes
         union all
         select agent_account_id, 0, 0, earned_micro, '-infinity' from changes where earned_micro <> 0
       ) each group by 1 order by 1
       on conflict (account_id) do update
          set calls = t.calls + excluded.calls, spent_micro = t.spent_micro + excluded.spent_micro,
              earned_micro = t.earned_micro + excluded.earned_micro, seen_at = greatest(t.seen_at, excluded.seen_at)
     )
     select count(*) as folded from changes`,
    [limit],
  );
  return Number(row?.folded ?? 0);
}

/** Removes hourly figures before a time; daily ones stay. */
export async function forgetHours(sql: Sql, before: Date): Promise<void> {
  await sql.query('forget-hours', `delete from call_figure where span = 'hour' and start < $1`, [before]);
}

export interface FigureRow {
  readonly side: 'made' | 'received';
  readonly start: Date;
  /** Histogram of completed calls' durations, keyed by the step of `duration_bin`. */
  readonly times: Readonly<Record<string, number>>;
  readonly calls: bigint;
  readonly completed: bigint;
  readonly failed: bigint;
  readonly amountMicro: bigint;
}

const sums = `sum(calls)::bigint as calls, sum(completed)::bigint as completed, sum(failed)::bigint as failed,
  sum(amount_micro)::bigint as "amountMicro"`;

/** The figures of an account since the beginning of an hour or day, with changes that are not folded yet. */
export const listFigures = (sql: Sql, accountId: string, span: 'hour' | 'day', since: Date): Promise<FigureRow[]> =>
  sql.query<FigureRow>(
    'list-figures',
    `with changes as (
       select * from call_change where made_at >= $3 and (account_id = $1 or agent_account_id = $1)
     )
     select side, start, ${sums}, json_object_agg(bin, completed) as times from (
       select side, start, bin, sum(calls) as calls, sum(completed) as completed, sum(failed) as failed, sum(amount_micro) as amount_micro from (
       select side, start, bin, calls, completed, failed, amount_micro from call_figure
        where subject_id = $1 and side in ('made', 'received') and span = $2 and start >= $3
       union all
       select side, date_trunc($2, made_at, 'UTC'), bin, calls, completed, failed, amount_micro from (${counted}) c where subject_id = $1
     ) each group by side, start, bin) bins group by side, start`,
    [accountId, span, since],
  );

export interface AgentFigureRow extends Omit<FigureRow, 'side' | 'times'> {
  readonly agentId: string;
}

/** The figures of agents by day (UTC), with unfolded changes. */
export const listAgentFigures = (sql: Sql, agentIds: readonly string[], since: Date): Promise<AgentFigureRow[]> =>
  sql.query<AgentFigureRow>(
    'list-agent-figures',
    `with changes as (
       select * from call_change where made_at >= $2 and agent_id = any($1)
     )
     select subject_id as "agentId", start, ${sums} from (
       select subject_id, start, calls, completed, failed, amount_micro from call_figure
        where subject_id = any($1) and side = 'received' and span = 'day' and start >= $2
       union all
       select subject_id, date_trunc('day', made_at, 'UTC'), calls, completed, failed, amount_micro from (${counted}) c
        where subject_id = any($1)
     ) each group by subject_id, start`,
    [agentIds, since],
  );

export interface FailureRow {
  readonly requestId: string;
  readonly agentId: string;
  readonly agentName: string;
  readonly errorCode: string;
  readonly errorMessage: string | null;
  readonly at: Date;
}

/** The last failed requests of an account. */
export const listLastFailures = (sql: Sql, accountId: string, limit: number): Promise<FailureRow[]> =>
  sql.query<FailureRow>(
    'list-last-failures',
    `select v.id as "requestId", v.agent_id as "agentId", g.name as "agentName", v.error_code as "errorCode",
            v.error_message as "errorMessage", v.completed_at as at
       from invocation v join agent g on g.id = v.agent_id
      where v.account_id = $1 and v.status = 'failed' order by v.completed_at desc limit $2`,
    [accountId, limit],
  );

/** The sums do not contain open requests; limits bound their number. */
const open = `from (
    select agent_id, status, created_at from invocation where account_id = $1 and status in ('pending', 'processing')
    union all select agent_id, status, created_at from invocation where account_id = $1 and status = 'input_required') open where true`;

/** SQL condition that a time is within the queried one. */
type Within = (time: string) => string;

/** The requests of an account within a time: stored sums, changes that are not folded yet, and open requests. */
const usedWithin = (within: Within) => `
  select agent_id, calls, completed, failed, 0 as pending, 0 as processing, 0 as waiting, spent_micro from agent_use where account_id = $1 and ${within('day')}
  union all
  select agent_id, calls, completed, failed, 0, 0, 0, spent_micro from call_change where account_id = $1 and ${within('made_at')}
  union all
  select agent_id, 1, 0, 0, (status = 'pending')::int, (status = 'processing')::int, (status = 'input_required')::int, 0 ${open} and ${within('created_at')}`;

/** Number and cost of requests. */
export interface UseSum {
  readonly requests: bigint;
  readonly spentMicro: bigint;
}

/** The number of requests in a sum, by status. */
const callsOf: Readonly<Record<RequestStatus, string>> = {
  pending: 'pending',
  processing: 'processing',
  input_required: 'waiting',
  completed: 'completed',
  failed: 'failed',
  cancelled: 'calls - completed - failed - pending - processing - waiting',
};

/** SQL: cost of failed or cancelled requests, collected by the agent or kept by its home. Few have any, and an index lists them. */
const lostWithin = (statuses: string, within: Within) => `
  (select coalesce(sum(cost_micro), 0) from invocation
    where account_id = $1 and status in (${statuses}) and cost_micro > 0
      and ($2::text is null or agent_id = $2) and ${within('created_at')})`;

/** The cost of the requests in a sum, by status. */
const spentOf: Readonly<Record<RequestStatus, (within: Within) => string>> = {
  pending: () => '0',
  processing: () => '0',
  input_required: () => '0',
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
