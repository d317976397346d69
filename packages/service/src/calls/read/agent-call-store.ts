import type { CallerKind, CallGateway } from '@agent-network/contracts/agents/agent-calls';
import type { FailureReason, RequestStatus } from '@agent-network/contracts/invocations/invocations';
import type { CallUsage } from '@agent-network/contracts/invocations/usage';
import type { Sql } from '../../store/sql.ts';

/** A call to an agent, without content of the caller and without the caller's identity. */
export interface AgentCallRow {
  readonly requestId: string;
  readonly callerKind: CallerKind | null;
  readonly isOwn: boolean;
  readonly gateway: CallGateway | null;
  readonly status: RequestStatus;
  readonly costMicro: bigint | null;
  readonly usage: CallUsage | null;
  readonly isEndedEarly: boolean;
  /** Number of calls to this agent that its caller has ended early; 0 unless this is one. */
  readonly callerEndedEarly: number;
  readonly errorCode: FailureReason | null;
  readonly errorMessage: string | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly completedAt: Date | null;
}

export interface AgentCallQuery {
  readonly agentId: string;
  /** The owner's account: its own calls are marked. */
  readonly accountId: string;
  /** Calls with one of these values are listed. */
  readonly by: { readonly column: 'status' | 'errorCode'; readonly values: readonly string[] };
  readonly from: Date | null;
  readonly before: Date | null;
  readonly after: { readonly createdAt: Date; readonly id: string } | null;
  readonly limit: number;
}

/** One index range for each value of a column, of `limit` rows at most: the cost does not grow with the calls. */
const rangesOf = (where: string) => `select shown.*, case when shown."isEndedEarly" then (
     select count(*)::int from invocation e where e.agent_id = $1 and e.account_id = shown.account_id and e.is_ended_early) else 0 end
       as "callerEndedEarly"
   from (select v.* from unnest($2::text[]) as wanted (value) cross join lateral (
     select id as "requestId", caller_kind as "callerKind", account_id = $3 as "isOwn", face as "gateway", status, cost_micro as "costMicro", usage,
            is_ended_early as "isEndedEarly", account_id, error_code as "errorCode", error_message as "errorMessage", created_at as "createdAt", started_at as "startedAt",
            completed_at as "completedAt"
       from invocation
      where agent_id = $1 and ${where} and created_at >= $4 and created_at < $5 and created_at <= $6 and (created_at < $6 or id > $7)
      order by created_at desc, id limit $8) v
   order by v."createdAt" desc, v."requestId" limit $8) shown order by shown."createdAt" desc, shown."requestId"`;

const statements = {
  status: { name: 'list-agent-calls', text: rangesOf('status = wanted.value') },
  errorCode: { name: 'list-agent-failures', text: rangesOf(`status = 'failed' and error_code = wanted.value`) },
};

/** Calls to an agent, newest first. Bounds are always given, as an optional one would not limit the range of the index. */
export function listCallsTo(sql: Sql, { by, after, ...query }: AgentCallQuery): Promise<AgentCallRow[]> {
  const { name, text } = statements[by.column];
  return sql.query<AgentCallRow>(name, text, [
    ...[query.agentId, by.values, query.accountId, query.from ?? '-infinity', query.before ?? 'infinity'],
    ...[after?.createdAt ?? 'infinity', after?.id ?? '', query.limit],
  ]);
}

export interface FailureGroupRow {
  readonly code: FailureReason;
  readonly message: string | null;
  readonly count: bigint;
  readonly isAtLeast: boolean;
  readonly lastAt: Date;
  readonly requestId: string;
}

/** Groups of failed calls by reason and message, out of the newest `most` of each reason; messages of the `silent` reasons are left out. */
export const groupFailures = (
  sql: Sql,
  query: {
    readonly agentId: string;
    readonly codes: readonly FailureReason[];
    readonly silent: readonly FailureReason[];
    readonly from: Date;
    readonly most: number;
    readonly limit: number;
  },
): Promise<FailureGroupRow[]> =>
  sql.query<FailureGroupRow>(
    'group-agent-failures',
    `select v.code, v.message, count(*) as count, bool_or(v.of_code = $5) as "isAtLeast", max(v.created_at) as "lastAt",
            (array_agg(v.id order by v.created_at desc, v.id))[1] as "requestId"
       from unnest($2::text[]) as wanted (code) cross join lateral (
         select n.*, count(*) over () as of_code from (
           select id, error_code as code, case when error_code <> all($3) then error_message end as message, created_at
             from invocation where agent_id = $1 and status = 'failed' and error_code = wanted.code and created_at >= $4
            order by created_at desc, id limit $5) n) v
      group by v.code, v.message order by count desc, "lastAt" desc limit $6`,
    [query.agentId, query.codes, query.silent, query.from, query.most, query.limit],
  );
