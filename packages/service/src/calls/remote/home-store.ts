import type { Home } from '../../agents/agent.ts';
import type { Sql } from '../../store/sql.ts';

/** This node's key at another node, sealed. */
export async function findHomeKey(sql: Sql, nodeId: string): Promise<Buffer | null> {
  const rows = await sql.query<{ sealed: Buffer | null }>(
    'find-home-key',
    'select api_key_sealed as sealed from network_node where id = $1',
    [nodeId],
  );
  return rows[0]?.sealed ?? null;
}

export async function writeHomeKey(sql: Sql, nodeId: string, sealed: Buffer): Promise<void> {
  await sql.query('write-home-key', 'update network_node set api_key_sealed = $2 where id = $1', [nodeId, sealed]);
}

export interface HomeCallRow {
  readonly requestId: string;
  readonly nodeId: string;
  readonly homeRequestId: string;
}

/** Records the id of a request at its home node; the first id stays. */
export async function insertHomeCall(sql: Sql, call: HomeCallRow, now: Date): Promise<void> {
  await sql.query(
    'insert-home-call',
    `insert into home_call (request_id, node_id, home_request_id, created_at, next_look_at) values ($1, $2, $3, $4, $4)
     on conflict do nothing`,
    [call.requestId, call.nodeId, call.homeRequestId, now],
  );
}

export async function findHomeRequestId(sql: Sql, requestId: string): Promise<string | null> {
  const rows = await sql.query<{ id: string }>(
    'find-home-request-id',
    'select home_request_id as id from home_call where request_id = $1',
    [requestId],
  );
  return rows[0]?.id ?? null;
}

/** Records the refund that the home node announced, and the time of the next poll; null: none. */
export async function recordHomeEnd(
  sql: Sql,
  requestId: string,
  { promisedMicro, nextLookAt }: { promisedMicro: bigint; nextLookAt: Date | null },
): Promise<void> {
  await sql.query(
    'record-home-end',
    `with looked as (
       update home_call set next_look_at = $3 where request_id = $1
     )
     update invocation set promised_micro = least($2, billed_micro) where id = $1 and billed_micro is not null`,
    [requestId, promisedMicro, nextLookAt],
  );
}

/** A request that has ended here and has an unknown end at its home node. */
export interface OpenHomeCall extends HomeCallRow {
  readonly home: Home;
  /** Status at this node. */
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly createdAt: Date;
}

export const HAS_DUE_HOME_CALLS =
  '(select min(next_look_at) from home_call where next_look_at is not null) <= given.now';

/** Takes requests and postpones their next poll by a quarter of their age, from 2 seconds to an hour, for 30 days. $1: the time. */
const takingDue = (due: string) =>
  `with due as (${due}), taken as (
     update home_call c
        set next_look_at = case when c.created_at > $1::timestamptz - interval '30 days'
              then $1 + greatest(interval '2 seconds', least(interval '1 hour', ($1 - c.created_at) / 4)) end
      where c.request_id in (select request_id from due) returning *
   )
   select c.request_id as "requestId", c.node_id as "nodeId", c.home_request_id as "homeRequestId", v.status,
          c.created_at as "createdAt", json_build_object('nodeId', n.id, 'baseUrl', n.base_url, 'wallet', lower(n.wallet), 'isInteractive', n.is_interactive) as home
     from taken c join invocation v on v.id = c.request_id join network_node n on n.id = c.node_id`;

/** Takes the request of this id, due or not, if it is open and has ended here. */
export const takeOpenHomeCall = (sql: Sql, requestId: string, now: Date): Promise<OpenHomeCall[]> =>
  sql.query<OpenHomeCall>(
    'take-open-home-call',
    takingDue(`select c.request_id from home_call c join invocation v on v.id = c.request_id
      where c.request_id = $2 and c.next_look_at is not null and v.completed_at is not null for update of c skip locked`),
    [now, requestId],
  );

/** Takes requests to poll at their home nodes, longest due first: a few of each node, and none of `busyNodes`. */
export const takeOpenHomeCalls = (
  sql: Sql,
  wanted: {
    readonly now: Date;
    readonly limit: number;
    readonly maxPerNode: number;
    readonly busyNodes: readonly string[];
  },
): Promise<OpenHomeCall[]> =>
  sql.query<OpenHomeCall>(
    'take-open-home-calls',
    takingDue(`
     select c.request_id from home_call c join (
       select c.request_id, row_number() over (partition by c.node_id order by c.next_look_at) as nth
         from home_call c join invocation v on v.id = c.request_id
        where c.next_look_at <= $1 and v.completed_at is not null and not (c.node_id = any($4))
     ) ranked using (request_id)
      where ranked.nth <= $3 and c.next_look_at <= $1 order by c.next_look_at limit $2 for update of c skip locked`),
    [wanted.now, wanted.limit, wanted.maxPerNode, wanted.busyNodes],
  );
