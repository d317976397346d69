import type { AgentMetadata } from '@agent-network/contracts/agents/agent-metadata';
import type { Sql } from '../store/sql.ts';
import type { Agent, CallableAgent } from './agent.ts';
import { columns, source, sourceOf } from './agent-row.ts';

export interface NewAgent {
  readonly id: string;
  readonly idSalt: Buffer | null;
  readonly accountId: string;
  readonly owner: string;
  readonly name: string;
  readonly description: string;
  readonly capabilities: readonly string[];
  readonly perRequestMicro: bigint;
  readonly perHourMicro: bigint;
  readonly tiers: Agent['tiers'];
  readonly endpoint: string;
  readonly protocol: Agent['protocol'];
  readonly upstream: Agent['upstream'];
  readonly upstreamHeadersSealed: Buffer | null;
  readonly metadata: AgentMetadata;
  readonly exampleQuestions: readonly string[];
  readonly typesId: string | null;
  readonly reputation: number;
  readonly tokenHash: Buffer;
  readonly tokenSealed: Buffer;
}

export async function insertAgent(sql: Sql, agent: NewAgent, now: Date): Promise<void> {
  await sql.query(
    'insert-agent',
    `insert into agent (id, account_id, owner_address, name, description, capabilities, per_request_micro, per_hour_micro,
       tiers, endpoint, metadata, status, reputation, token_hash, token_sealed, next_check_at, last_seen_at, created_at, updated_at, changed_at,
       id_salt, types_id, protocol, upstream, upstream_headers_sealed, example_questions)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'pending_verification', $12, $13, $14, $15, $15, $15, $15, $15, $16, $17, $18, $19, $20, $21)`,
    [
      agent.id,
      agent.accountId,
      agent.owner,
      agent.name,
      agent.description,
      agent.capabilities,
      agent.perRequestMicro,
      agent.perHourMicro,
      JSON.stringify(agent.tiers),
      agent.endpoint,
      JSON.stringify(agent.metadata),
      agent.reputation,
      agent.tokenHash,
      agent.tokenSealed,
      now,
      agent.idSalt,
      agent.typesId,
      agent.protocol,
      JSON.stringify(agent.upstream),
      agent.upstreamHeadersSealed,
      agent.exampleQuestions,
    ],
  );
  await sql.query('insert-agent-totals', 'insert into agent_totals (agent_id) values ($1)', [agent.id]);
}

/** The agent, unless it is removed. */
export async function findAgentRow(sql: Sql, id: string): Promise<Agent | null> {
  const rows = await sql.query<Agent>(
    'find-agent',
    `select ${columns} from ${source} where g.id = $1 and g.status <> 'removed'`,
    [id],
  );
  return rows[0] ?? null;
}

/** Agents that are not removed, unordered. */
export const findAgentRows = (sql: Sql, ids: readonly string[]): Promise<Agent[]> =>
  sql.query<Agent>('find-agents', `select ${columns} from ${source} where g.id = any($1) and g.status <> 'removed'`, [
    ids,
  ]);

export interface OwnAgentsPage {
  /** Restricts the page to this agent; null: all. */
  readonly agentId: string | null;
  readonly after: string | null;
  readonly limit: number;
}

/** The agents that an account registered here, the newest first, behind the one with the id `after`. */
export const listAgentsOf = (sql: Sql, accountId: string, { agentId, after, limit }: OwnAgentsPage): Promise<Agent[]> =>
  sql.query<Agent>(
    'list-agents-of',
    `select ${columns} from ${source}
      where g.account_id = $1 and g.home_node is null and g.status <> 'removed' and ($2::text is null or g.id < $2)
        and ($4::text is null or g.id = $4)
      order by g.id desc limit $3`,
    [accountId, after, limit, agentId],
  );

/** Number of agents that an account has registered here and that are not removed: all, only `agentId`, or counted up to `most`. */
export async function countAgentsOf(
  sql: Sql,
  accountId: string,
  { agentId = null, most = null }: { readonly agentId?: string | null; readonly most?: number | null },
): Promise<number> {
  const [row] = await sql.query<{ count: number }>(
    'count-agents-of',
    `select count(*)::int as count from (
       select from agent
        where account_id = $1 and home_node is null and status <> 'removed' and ($2::text is null or id = $2) limit $3) counted`,
    [accountId, agentId, most],
  );
  return row?.count ?? 0;
}

/** An agent of this node, removed or not: for records about its past. */
export async function findLocalAgentRow(sql: Sql, id: string): Promise<Agent | null> {
  const rows = await sql.query<Agent>(
    'find-local-agent',
    `select ${columns} from ${source} where g.id = $1 and g.home_node is null`,
    [id],
  );
  return rows[0] ?? null;
}

/** The owner of an agent, removed or not. */
export async function findOwner(sql: Sql, id: string): Promise<string | null> {
  const [row] = await sql.query<{ owner: string }>(
    'find-owner',
    'select owner_address as owner from agent where id = $1',
    [id],
  );
  return row?.owner ?? null;
}

export const findCallableRows = (sql: Sql, ids: readonly string[]): Promise<CallableAgent[]> =>
  sql.query<CallableAgent>(
    'find-callable-agents',
    `select g.id, g.account_id as "accountId", g.capabilities, g.per_request_micro as "perRequestMicro", g.reputation, g.endpoint,
            g.status, g.token_sealed as "tokenSealed", g.last_seen_at as "lastSeenAt", g.types_id as "typesId", y.estimated_time as "declaredTime",
            g.protocol, g.upstream, g.upstream_headers_sealed as "upstreamHeadersSealed",
            case when t.completed > 0 then t.duration_ms::float8 / t.completed end as "averageMs",
            coalesce((g.metadata->>'priceHints')::boolean, false) as "takesHints", g.metadata->'perUnit' as "perUnit", g.metadata->'perUsage' as "perUsage",
            g.metadata->'sizeSteps' as "sizeSteps", coalesce((g.metadata->>'shownShare')::int, 100) as "shownShare",
            coalesce((g.metadata->>'showsUnjudged')::boolean, false) as "showsUnjudged",
            case when n.id is not null then json_build_object('nodeId', n.id, 'baseUrl', n.base_url, 'wallet', lower(n.wallet), 'isInteractive', n.is_interactive) end as home
       from agent g join agent_totals t on t.agent_id = g.id left join network_node n on n.id = g.home_node
            left join agent_types y on y.id = g.types_id
      where g.id = any($1) and g.status <> 'removed'`,
    [ids],
  );

/** Position in the order of changes: a time to the microsecond as PostgreSQL reads it, and an id. */
export interface ChangePosition {
  readonly at: string;
  readonly id: string;
}

const changedAt = (expression: string) =>
  `to_char((${expression}) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** This node's registered agents that changed after a position, removed ones included, in order; and the time `settledMs` ago. */
export async function listChangedRows(
  sql: Sql,
  { after, limit, settledMs }: { after: ChangePosition | null; limit: number; settledMs: number },
): Promise<{ agents: (Agent & { readonly changedAt: string })[]; settledAt: string }> {
  const [row] = await sql.query<{ settledAt: string }>(
    'settled-time',
    `select ${changedAt(`clock_timestamp() - $1::int * interval '1 millisecond'`)} as "settledAt"`,
    [settledMs],
  );
  const agents = await sql.query<Agent & { changedAt: string }>(
    'list-changed-agents',
    `select ${columns}, ${changedAt('g.changed_at')} as "changedAt" from ${source}
      where g.home_node is null and g.token_id is not null and (g.changed_at, g.id) > ($1::timestamptz, $2)
      order by g.changed_at, g.id limit $3`,
    [after?.at ?? '-infinity', after?.id ?? '', limit],
  );
  return { agents, settledAt: row?.settledAt ?? '' };
}

export const HAS_DUE_CHECKS = '(select min(next_check_at) from agent where next_check_at is not null) <= given.now';

/** The most checks that a process begins now. */
export interface CheckRoom {
  readonly checks: number;
  /** Maximum checks of slow agents: those that missed their last check, or take longer than `slowMs` on average. */
  readonly slowChecks: number;
  readonly slowMs: number;
  /** Maximum checks of slow and pending agents of one account; those that are under way (`running`) count. */
  readonly checksOfAccount: number;
  readonly running: ReadonlyMap<string, number>;
  /** Due agents that are considered, of the slow ones and of the others: the cost is bounded, however many are due. */
  readonly considered: number;
}

export type DueAgent = Agent & { readonly isSlow: boolean };

/** Due agents that are read for each that is considered: some of them have no room. */
const PASSED_OVER = 10;

const DUE = `select id, account_id, next_check_at, status = 'pending_verification' as is_pending,
         coalesce(failed_in_a_row > 0 or response_ms > $5 or status = 'pending_verification' and checks_done > 0, false) as is_slow
    from agent where next_check_at <= $1 order by next_check_at limit ${PASSED_OVER} * $9::int`;

/**
 * Takes agents that are due for a check, longest due first, and postpones them so that other processes get different ones. Agents without
 * room (slow ones, or those of an account at its limit) stay due and do not hide the others.
 */
export async function takeDueAgents(sql: Sql, now: Date, busyUntil: Date, room: CheckRoom): Promise<DueAgent[]> {
  const running = [[...room.running.keys()], [...room.running.values()]];
  const full = [...room.running].filter(([, checks]) => checks >= room.checksOfAccount).map(([accountId]) => accountId);
  return sql.query<DueAgent>(
    'take-due-agents',
    `with queue as (
       (select * from (${DUE}) near where not is_slow and not (is_pending and account_id = any($10::text[])) order by next_check_at limit $9::int)
       union all
       (select * from (${DUE}) near where is_slow and $4::int > 0 and account_id <> all($10::text[]) order by next_check_at limit $9::int)
     ), of_accounts as (
       select *, row_number() over (partition by account_id, is_slow or is_pending order by next_check_at) as nth from queue
     ), of_kinds as (
       select id, next_check_at, is_slow, row_number() over (partition by is_slow order by next_check_at) as nth
         from of_accounts left join unnest($7::text[], $8::int[]) as running(account_id, checks) using (account_id)
        where not (is_slow or is_pending) or nth <= $6 - coalesce(running.checks, 0)
     ), first as (
       select id, is_slow from of_kinds where not is_slow or nth <= $4 order by next_check_at limit $3
     ), due as (
       select id from agent where id in (select id from first) and next_check_at <= $1 for update skip locked
     ), taken as (
       update agent set next_check_at = $2 where id in (select id from due) returning *
     )
     select ${columns}, first.is_slow as "isSlow" from ${sourceOf('taken')} join first on first.id = g.id`,
    [
      ...[now, busyUntil, room.checks, room.slowChecks, room.slowMs, room.checksOfAccount],
      ...[...running, room.considered, full],
    ],
  );
}

/** Makes the checks of these agents, or of their home nodes, due now, after a call could not reach them. */
export async function checkSoon(sql: Sql, agentIds: readonly string[], now: Date): Promise<void> {
  await sql.query(
    'check-soon',
    `update agent set next_check_at = $2 where id = any($1) and status = 'online' and next_check_at > $2`,
    [agentIds, now],
  );
  await sql.query(
    'check-homes-soon',
    `update network_node set next_check_at = $2 where next_check_at > $2 and id in (select home_node from agent where id = any($1))`,
    [agentIds, now],
  );
}

export async function countRunning(sql: Sql, agentId: string): Promise<number> {
  const [row] = await sql.query<{ running: bigint }>(
    'count-running',
    `select count(*) as running from invocation where agent_id = $1 and status in ('pending', 'processing')`,
    [agentId],
  );
  return Number(row?.running ?? 0);
}
