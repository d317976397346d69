import type { EventType } from '@agent-network/contracts/events';
import type { Sql, Tx } from '../../store/sql.ts';
import { type WebhookRow, webhookColumns } from '../webhooks/webhook-store.ts';
import type { Receiver } from './delivery-slots.ts';
import type { Wanted } from './dispatcher.ts';

/** Endpoint queue: a webhook that only this process sends to until it releases it. */
export interface EndpointQueue extends WebhookRow, Receiver {
  /** The id of the process; in the column `courier`. */
  readonly worker: string;
}

export const HAS_DUE_QUEUES = '(select min(due_at) from webhook where due_at is not null) <= given.now';

/**
 * Takes webhooks with due deliveries that no living process is sending to, longest due first. A process that died, or was declared dead by
 * others, holds none.
 */
export const takeEndpointQueues = (
  sql: Sql,
  worker: string,
  wanted: Pick<Wanted, 'underway' | 'lateAccounts' | 'isLate' | 'limit'>,
  now: Date,
): Promise<EndpointQueue[]> =>
  sql.query<EndpointQueue>(
    'take-endpoint-queues',
    `with due as (
       select id from webhook
        where due_at <= $1 and id <> all($3) and (account_id = any($5)) = $6
          and (courier is null or courier = $2 or not exists (select from process p where p.id = courier))
        order by due_at limit $4 for no key update skip locked
     )
     update webhook w set courier = $2 from due where w.id = due.id returning ${webhookColumns}, w.courier as worker, w.id as receiver`,
    [now, worker, wanted.underway, wanted.limit, wanted.lateAccounts, wanted.isLate],
  );

export interface DueDelivery {
  readonly id: string;
  readonly eventId: string;
  readonly sequence: bigint | null;
  readonly url: string | null;
  /** True when the body is stored already. */
  readonly hasBody: boolean;
  /** Attempts that were made: they are numbered through, also when the delivery is replayed. */
  readonly attempts: number;
  /** Number of tries in the schedule of retries: a replay begins again with 0, and an attempt brought forward does not count. */
  readonly tries: number;
  /** Brought forward after a success of its endpoint. */
  readonly isEarly: boolean;
  readonly event: {
    readonly type: EventType;
    readonly subjectId: string;
    readonly accountId: string;
    readonly createdAt: Date;
    readonly data: unknown;
  };
}

type DueRow = Omit<DueDelivery, 'event'> & DueDelivery['event'];

const waiting = `select id, event_id, sequence, url, body is not null as has_body, attempts, tries, is_early from webhook_delivery
  where webhook_id = $1 and state = 'pending'`;

/** Due first attempts and retries, in the order of their events. */
export async function listDue(sql: Sql, webhookId: string, now: Date, limit: number): Promise<DueDelivery[]> {
  const rows = await sql.query<DueRow>(
    'list-due-deliveries',
    `select d.id, d.event_id as "eventId", d.sequence, d.url, d.has_body as "hasBody", d.attempts, d.tries, d.is_early as "isEarly", e.type, e.subject_id as "subjectId",
            e.account_id as "accountId", e.created_at as "createdAt", e.data
       from ((${waiting} and tries = 0 order by sequence limit $3)
             union all (${waiting} and tries > 0 and next_attempt_at <= $2 order by next_attempt_at limit $3)) d
       left join event e on e.sequence = d.sequence
      order by d.sequence`,
    [webhookId, now, limit],
  );
  return rows.map(({ type, subjectId, accountId, createdAt, data, ...rest }) => ({
    ...rest,
    event: { type, subjectId, accountId, createdAt, data },
  }));
}

/** Stored bodies of the first of these deliveries, up to this many bytes. */
export async function readBodies(
  sql: Sql,
  deliveryIds: readonly string[],
  bytes: number,
): Promise<Map<string, string>> {
  const rows = await sql.query<{ id: string; body: string }>(
    'read-delivery-bodies',
    `select id, body from (
       select d.id, d.body, sum(octet_length(d.body)) over (order by given.position) - octet_length(d.body) as before
         from unnest($1::text[]) with ordinality as given(id, position) join webhook_delivery d on d.id = given.id
        where d.body is not null) sized
      where before < $2`,
    [deliveryIds, bytes],
  );
  return new Map(rows.map(({ id, body }) => [id, body]));
}

/** Stores the bodies before their first attempt; an existing one stays. */
export async function storeBodies(sql: Sql, bodies: ReadonlyMap<string, string>): Promise<void> {
  await sql.query(
    'store-delivery-bodies',
    `update webhook_delivery d set body = n.body from unnest($1::text[], $2::text[]) as n(id, body)
      where d.id = n.id and d.body is null`,
    [[...bodies.keys()], [...bodies.values()]],
  );
}

/** Receivers that answered with success in a turn: the endpoint, or URLs of single requests. */
export interface AnsweringReceiver {
  readonly webhookId: string;
  /** null: the endpoint. */
  readonly urls: readonly string[] | null;
}

/** Position in the order of a webhook's next attempts: a time as PostgreSQL writes it, and the id of a delivery. */
export interface RetryPosition {
  readonly at: string;
  readonly id: string;
}

/**
 * Makes pending deliveries of an endpoint due that has just succeeded, instead of waiting for the schedule; not sooner than five seconds
 * after the last attempt, nor than a tenth of the delivery's age, so that a delivery that always fails is tried ever more rarely. Visits
 * `most` deliveries after a place; null: after `now`. Those that change in between are skipped. Returns the place to continue from, null at
 * the end, and the due time of the first one brought forward.
 */
export async function bringSomeForward(
  sql: Sql,
  { webhookId, urls }: AnsweringReceiver,
  { behind, most, now }: { readonly behind: RetryPosition | null; readonly most: number; readonly now: Date },
): Promise<{ next: RetryPosition | null; dueAt: Date | null }> {
  const [row] = await sql.query<{ seen: number; at: string; id: string; dueAt: Date | null }>(
    'bring-forward-deliveries',
    `with seen as materialized (
       select id, url, tries, created_at, next_attempt_at from webhook_delivery
        where webhook_id = $1 and state = 'pending' and tries > 0 and not is_early
          and (next_attempt_at, id) > (coalesce($4::timestamptz, $3::timestamptz), coalesce($5::text, ''))
        order by next_attempt_at, id limit $6
     ), early as (
       select id, tries, next_attempt_at, greatest($3::timestamptz, (select max(at) from webhook_attempt where delivery_id = seen.id)
                                           + greatest(interval '5 seconds', ($3::timestamptz - created_at) / 10)) as at
         from seen where $2::text[] is null or url = any($2)
     ), moved as (
       update webhook_delivery d set next_attempt_at = early.at, is_early = true from early
        where d.id = early.id and early.at < d.next_attempt_at
          and d.next_attempt_at = early.next_attempt_at and d.tries = early.tries and not d.is_early
       returning d.next_attempt_at
     )
     select (select count(*)::int from seen) as seen, next_attempt_at::text as at, id, (select min(next_attempt_at) from moved) as "dueAt"
       from seen order by seen.next_attempt_at desc, id desc limit 1`,
    [webhookId, urls, now, behind?.at, behind?.id, most],
  );
  if (!row) return { next: null, dueAt: null };
  const { seen, at, id, dueAt } = row;
  return { next: seen < most ? null : { at, id }, dueAt };
}

/** Releases an endpoint queue and sets its next due time, behind all that are due now. Returns true when it is due at once. */
export async function releaseEndpointQueue(tx: Tx, queue: EndpointQueue, now: Date): Promise<boolean> {
  // A separate statement takes the lock, so that the next one sees everything that fan-out has committed before.
  await tx.query('lock-endpoint-queue', 'select from webhook where id = $1 for no key update', [queue.id]);
  const [row] = await tx.query<{ dueAt: Date | null }>(
    'release-endpoint-queue',
    `update webhook w
        set courier = null,
            due_at = case status when 'enabled' then (
              select greatest(min(at), paused_until, $3) from (
                (select $3::timestamptz as at from webhook_delivery where webhook_id = $1 and state = 'pending' and tries = 0 limit 1)
                union all
                (select next_attempt_at from webhook_delivery where webhook_id = $1 and state = 'pending' and tries > 0
                  order by next_attempt_at limit 1)) waiting
              having min(at) is not null) end
      where id = $1 and courier = $2 returning due_at as "dueAt"`,
    [queue.id, queue.worker, now],
  );
  return row?.dueAt != null && row.dueAt <= now;
}
