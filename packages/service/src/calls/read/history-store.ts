import type { HistoryItem } from '@agent-network/contracts/invocations/history';
import type { RequestStatus } from '@agent-network/contracts/invocations/invocations';
import { DAY_MS } from '../../lib/duration.ts';
import type { PagePosition } from '../../lib/page-position.ts';
import type { Sql } from '../../store/sql.ts';
import { namedByA2a } from '../invocation-store.ts';
import { sumUse, type UseSum } from './call-figure-store.ts';

export interface HistoryQuery {
  readonly accountId: string;
  /** Restricts an agent to its own requests. */
  readonly callerAgentId: string | null;
  readonly agentId: string | null;
  readonly status: RequestStatus | null;
  readonly bulkId: string | null;
  /** The A2A context, as its metadata name it or as its id makes it. */
  readonly contextId: string | null;
  /** Earliest time of the last change of status. */
  readonly changedAfter: Date | null;
  /** Text in the task or in the name of the agent. */
  readonly search: string | null;
  readonly from: Date | null;
  readonly before: Date | null;
}

export interface HistoryRow
  extends Pick<
    HistoryItem,
    | 'requestId'
    | 'agentId'
    | 'requestedAgentId'
    | 'agentName'
    | 'task'
    | 'status'
    | 'paymentMethod'
    | 'errorCode'
    | 'bulkId'
  > {
  refundMicro: bigint | null;
  costMicro: bigint | null;
  createdAt: Date;
  startedAt: Date | null;
  completedAt: Date | null;
  /** True if there is another matching row after it, shown or not. */
  hasNext: boolean;
}

/** Bytes of the tasks of a page; tasks beyond it are not read. */
const PAGE_BYTES = 1024 * 1024;

/** Maximum rows that a search reads, which bounds its cost for any number of calls. */
const MAX_SEARCHED = 10_000;

/** No request runs longer than a day, so a request that changed since a time was made at most two days before it. */
const MAX_RUN = `interval '2 days'`;
/** The context that a request names; one that names none has one of its own. */
const NAMED_CONTEXT = namedByA2a('contextId');

/**
 * The conditions of the filters that are given, so that the planner sees which index serves them. `$n` are found by `parameters`, which casts
 * all of them.
 */
function filterOf(query: HistoryQuery): string {
  const conditions: Readonly<Record<string, readonly [unknown, string]>> = {
    caller: [query.callerAgentId, 'caller_agent_id = $2'],
    agent: [query.agentId, 'agent_id = $3'],
    status: [query.status, query.status === null ? '' : statusIs[query.status]],
    from: [query.from, 'created_at >= $5'],
    before: [query.before, 'created_at < $6'],
    bulk: [query.bulkId, 'bulk_id = $7'],
    context: [
      query.contextId,
      `((${NAMED_CONTEXT}) = $8 or (id = 'req_' || substr($8, 5) and (${NAMED_CONTEXT}) is null))`,
    ],
    changed: [
      query.changedAfter,
      `created_at >= $9::timestamptz - ${MAX_RUN} and coalesce(completed_at, started_at, created_at) >= $9`,
    ],
  };
  const given = Object.values(conditions).filter(([value]) => value !== null);
  return ['account_id = $1', ...given.map(([, condition]) => condition)].join(' and ');
}

/** SQL conditions with literals, which the partial indexes require. */
const statusIs: Readonly<Record<RequestStatus, string>> = {
  pending: `status = 'pending'`,
  processing: `status = 'processing'`,
  input_required: `status = 'input_required'`,
  completed: `status = 'completed'`,
  failed: `status = 'failed'`,
  cancelled: `status = 'cancelled'`,
};

/** Gives every parameter a type, used or not. */
const TYPED = `typed as (select $1::text, $2::text, $3::text, $4::text, $5::timestamptz, $6::timestamptz, $7::text, $8::text, $9::timestamptz)`;

/** Unnamed: the plan depends on the filters, and on how many rows of the account each of them matches. */
const PLANNED_EACH_TIME = '';

const isFound = (search: string) =>
  `(strpos(lower(v.task), lower(${search})) > 0 or strpos(lower(g.name), lower(${search})) > 0)`;

const parameters = (query: HistoryQuery) => [
  query.accountId,
  query.callerAgentId,
  query.agentId,
  query.status,
  query.from,
  query.before,
  query.bulkId,
  query.contextId,
  query.changedAfter,
];

/** The first of a page, newest first, until their tasks fill it; at least one, if there is one. */
export const readHistory = (
  sql: Sql,
  query: HistoryQuery,
  page: { after: { createdAt: Date; id: string } | null; limit: number; offset: number },
): Promise<HistoryRow[]> =>
  sql.query<HistoryRow>(
    PLANNED_EACH_TIME,
    `with ${TYPED}
     select id as "requestId", agent_id as "agentId", requested_agent_id as "requestedAgentId", agent_name as "agentName", task,
            status, payment_method as "paymentMethod", error_code as "errorCode", bulk_id as "bulkId",
            cost_micro as "costMicro", refund_micro as "refundMicro", created_at as "createdAt",
            started_at as "startedAt", completed_at as "completedAt", has_next as "hasNext"
       from (
         select p.*, sum(octet_length(p.task)) over place - octet_length(p.task) as before, lead(p.id) over place is not null as has_next
           from (
             select v.*, g.name as agent_name
               from (
                 select * from invocation where ${filterOf(query)} and created_at <= $10 and (created_at < $10 or id > $11)
                  order by created_at desc, id
                  limit case when $14::text is null then $12::int else ${MAX_SEARCHED} end
                 offset case when $14::text is null then $13::int else 0 end
               ) v join agent g on g.id = v.agent_id
              where $14::text is null or ${isFound('$14')}
              order by v.created_at desc, v.id
              limit $12::int offset case when $14::text is null then 0 else $13::int end
           ) p
         window place as (order by p.created_at desc, p.id)
       ) found
      where before < ${PAGE_BYTES}
      order by created_at desc, id`,
    [
      ...parameters(query),
      ...[page.after?.createdAt ?? 'infinity', page.after?.id ?? '', page.limit, page.offset, query.search],
    ],
  );

/**
 * Number and total cost of the matches. Whole days, in total, by agent and by status, come from stored sums, and from the few unsuccessful
 * requests with a cost; matches of other filters, which have an index, are counted.
 */
export async function sumHistory(sql: Sql, query: HistoryQuery): Promise<{ total: number; costMicro: bigint }> {
  if (query.search !== null) return sumOf(await sumFound(sql, query));
  const { callerAgentId, bulkId, contextId, changedAfter } = query;
  const isKept = [callerAgentId, bulkId, contextId].every((filter) => filter === null);
  if (!isKept) return sumOf(await sumRows(sql, query));
  return sumOf(changedAfter === null ? await sumUse(sql, query) : await sumChanged(sql, query, changedAfter));
}

/**
 * Sums requests that changed since a time. All requests made on later days have, so only those of the day and the two before are counted.
 */
async function sumChanged(sql: Sql, query: HistoryQuery, changedAfter: Date): Promise<UseSum[]> {
  const { from, before } = query;
  const nextDay = new Date((Math.floor(changedAfter.getTime() / DAY_MS) + 1) * DAY_MS);
  const later = { ...query, from: from !== null && from > nextDay ? from : nextDay };
  const earlier = { ...query, before: before !== null && before < nextDay ? before : nextDay };
  return [...(await sumUse(sql, later)), ...(await sumRows(sql, earlier))];
}

const sumOf = (rows: readonly UseSum[]) => ({
  total: rows.reduce((sum, { requests }) => sum + Number(requests), 0),
  costMicro: rows.reduce((sum, { spentMicro }) => sum + spentMicro, 0n),
});

const sumFound = (sql: Sql, query: HistoryQuery): Promise<UseSum[]> =>
  sql.query<UseSum>(
    PLANNED_EACH_TIME,
    `with ${TYPED}
     select count(*) as requests, coalesce(sum(v.cost_micro), 0)::bigint as "spentMicro"
       from (select * from invocation where ${filterOf(query)} order by created_at desc, id limit ${MAX_SEARCHED}) v
       join agent g on g.id = v.agent_id
      where ${isFound('$10')}`,
    [...parameters(query), query.search],
  );

const sumRows = (sql: Sql, query: HistoryQuery): Promise<UseSum[]> =>
  sql.query<UseSum>(
    PLANNED_EACH_TIME,
    `with ${TYPED}
     select count(*) as requests, coalesce(sum(cost_micro), 0)::bigint as "spentMicro" from invocation where ${filterOf(query)}`,
    parameters(query),
  );

interface ExportQuery {
  readonly accountId: string;
  /** Restricts an agent to its own requests. */
  readonly callerAgentId: string | null;
  /** Contents of requests created before this time have been removed. */
  readonly since: Date;
  readonly after: PagePosition | null;
  readonly limit: number;
}

/** Ended requests that still have their contents, oldest first. Each page is one range of the index, at any depth. */
export const findEnded = (sql: Sql, query: ExportQuery): Promise<{ readonly id: string }[]> =>
  sql.query<{ id: string }>(
    'find-ended',
    `select id from invocation
      where account_id = $1 and ($2::text is null or caller_agent_id = $2) and created_at >= $3
        and completed_at is not null and content_removed_at is null
        and created_at >= $4 and (created_at > $4 or id < $5)
      order by created_at, id desc limit $6`,
    [
      ...[query.accountId, query.callerAgentId, query.since],
      ...[query.after?.createdAt ?? '-infinity', query.after?.id ?? '', query.limit],
    ],
  );

/** Facts that a repeated call shares with the first one. */
export interface TwinQuery {
  readonly accountId: string;
  readonly callerAgentId: string | null;
  /** `auto`: any that the node has chosen. */
  readonly agentId: string;
  readonly task: string;
  readonly context: string | null;
  /** JSON text. */
  readonly input: string;
  readonly since: Date;
}

/** Requests of the account that are looked at, newest first: a repetition follows its first attempt soon. */
const MAX_READ = 1000;

/** The newest request like this among the newest of its account; null: none, or that one was given back (`wasGivenBack`). */
export async function findNewestTwin(sql: Sql, twin: TwinQuery): Promise<string | null> {
  const [row] = await sql.query<{ id: string }>(
    'find-newest-twin',
    `select id from (
       select id, status, cost_micro from (
         select id, created_at, caller_agent_id, agent_id, chosen, task, context, input, status, cost_micro from invocation
          where account_id = $1 and created_at > $2 order by created_at desc, id limit ${MAX_READ}) v
        where caller_agent_id is not distinct from $3 and case when $4 = 'auto' then chosen is not null else agent_id = $4 end and task = $5 and context is not distinct from $6
          and input::text = $7
        order by created_at desc, id limit 1) n
      where not (status in ('failed', 'cancelled') and coalesce(cost_micro, 0) = 0)`,
    [twin.accountId, twin.since, twin.callerAgentId, twin.agentId, twin.task, twin.context, twin.input],
  );
  return row?.id ?? null;
}
