import type { EventType } from '@agent-network/contracts/events';
import { type Delivery, MAX_KEPT_ATTEMPTS } from '@agent-network/contracts/webhooks';
import type { Sql, Tx } from '../../store/sql.ts';
import type { EndpointAnswer } from '../webhooks/attempt.ts';

export interface DeliveryRow {
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly eventId: string;
  readonly type: Delivery['type'];
  readonly url: string;
  readonly status: Delivery['status'];
  readonly nextAttemptAt: Date | null;
  readonly body: string | null;
  readonly createdAt: Date;
}

export interface AttemptRow extends Omit<EndpointAnswer, 'retryAfter'> {
  readonly deliveryId: string;
  /** Counted over the whole life of the delivery, from 1. */
  readonly number: number;
  readonly at: Date;
}

const columns = `d.id as "deliveryId", d.webhook_id as "webhookId", d.event_id as "eventId", d.type, coalesce(d.url, w.url) as url, d.state as status,
  d.next_attempt_at as "nextAttemptAt", d.body, d.created_at as "createdAt"`;

/** Selects deliveries of a webhook; null: any. */
export interface DeliveryFilter {
  readonly status: string | null;
  readonly deliveryId: string | null;
  readonly eventId: string | null;
  readonly type: string | null;
}

/** Unnamed: which index serves depends on the filters. */
const PLANNED_EACH_TIME = '';

/** Reading and counting end here, however many deliveries an endpoint has: no offset comes this far. */
const MAX_READ = 20_000;

const isWanted = `d.webhook_id = $1 and ($2::text is null or d.state = $2) and ($3::text is null or d.id = $3)
  and ($4::text is null or d.event_id = $4)`;
const isOfType = `($5::text is null or d.type = $5)`;

const latestOf = (condition: string, order: string) =>
  `(select d.* from webhook_delivery d where ${isWanted} ${condition} order by ${order} limit ${MAX_READ})`;

/**
 * `type` is not indexed, so apply the other filters first, newest first. Pending deliveries are few among those of a healthy endpoint, and
 * are in two indexes: those that were not tried yet, the latest, and those that are tried again, the next due ones.
 */
const latest = ({ status }: DeliveryFilter): string =>
  status === 'pending'
    ? `(${latestOf(`and d.state = 'pending' and d.tries = 0`, 'd.sequence desc')}
        union all ${latestOf(`and d.state = 'pending' and d.tries > 0`, 'd.next_attempt_at')})`
    : latestOf('', 'd.created_at desc, d.id desc');

const filterParams = (webhookId: string, { status, deliveryId, eventId, type }: DeliveryFilter) => [
  webhookId,
  status,
  deliveryId,
  eventId,
  type,
];

/** Bytes of the bodies of a page; bodies beyond it are not read. */
const PAGE_BYTES = 1024 * 1024;

/** The first of a page, until their bodies fill it; at least one, if there is one. */
export const listDeliveryRows = (
  sql: Sql,
  webhookId: string,
  filter: DeliveryFilter,
  page: { limit: number; offset: number },
): Promise<DeliveryRow[]> =>
  sql.query<DeliveryRow>(
    PLANNED_EACH_TIME,
    `select ${columns} from (
       select d.*, sum(coalesce(octet_length(d.body), 0)) over (order by d.created_at desc, d.id desc)
                   - coalesce(octet_length(d.body), 0) as before
         from (select d.* from ${latest(filter)} d where ${isOfType} order by d.created_at desc, d.id desc limit $6 offset $7) d
     ) d join webhook w on w.id = d.webhook_id
      where d.before < ${PAGE_BYTES} order by d.created_at desc, d.id desc`,
    [...filterParams(webhookId, filter), page.limit, page.offset],
  );

export async function countDeliveries(sql: Sql, webhookId: string, filter: DeliveryFilter): Promise<number> {
  const [row] = await sql.query<{ total: bigint }>(
    PLANNED_EACH_TIME,
    `select count(*) as total from (select from ${latest(filter)} d where ${isOfType} limit ${MAX_READ}) counted`,
    filterParams(webhookId, filter),
  );
  return Number(row?.total ?? 0);
}

/** Characters of an endpoint's answer that are listed of attempts before the latest. */
const EARLIER_CHARACTERS = 1024;

/** The kept attempts of these deliveries. Answers are whole only of the latest attempt of each: a page stays small. */
export const listAttempts = (sql: Sql, deliveryIds: readonly string[]): Promise<AttemptRow[]> =>
  sql.query<AttemptRow>(
    'list-attempts',
    `select a.delivery_id as "deliveryId", a.number, a.at, a.status, a.error, a.duration_ms as "durationMs",
            case when a.number = d.attempts then a.response else left(a.response, ${EARLIER_CHARACTERS}) end as response
       from webhook_delivery d join webhook_attempt a on a.delivery_id = d.id
      where d.id = any($1) and a.number > d.attempts - ${MAX_KEPT_ATTEMPTS} order by a.delivery_id, a.number`,
    [deliveryIds],
  );

/** The delivery of an event to a webhook. */
export async function findDeliveryOf(sql: Sql, webhookId: string, eventId: string): Promise<DeliveryRow | null> {
  const rows = await sql.query<DeliveryRow>(
    'find-delivery-of',
    `select ${columns} from webhook_delivery d join webhook w on w.id = d.webhook_id
      where d.webhook_id = $1 and d.event_id = $2`,
    [webhookId, eventId],
  );
  return rows[0] ?? null;
}

export interface TestDelivery {
  readonly id: string;
  readonly webhookId: string;
  readonly eventId: string;
  readonly body: string;
  readonly state: 'delivered' | 'failed';
  readonly at: Date;
  readonly answer: EndpointAnswer;
}

/** Stores a sent test with its attempt. No effect when the endpoint was deleted since, or the test is stored already. */
export async function insertTestDelivery(tx: Tx, { answer, ...test }: TestDelivery): Promise<void> {
  const rows = await tx.query(
    'insert-test-delivery',
    `insert into webhook_delivery (id, webhook_id, event_id, type, body, state, attempts, tries, created_at)
     select $1, id, $3, 'webhook.test', $4, $5, 1, 1, $6 from webhook where id = $2 on conflict do nothing returning id`,
    [test.id, test.webhookId, test.eventId, test.body, test.state, test.at],
  );
  if (rows.length === 0) return;
  await tx.query(
    'insert-test-attempt',
    `insert into webhook_attempt (delivery_id, number, at, status, error, duration_ms, response)
     values ($1, 1, $2, $3, $4, $5, $6)`,
    [test.id, test.at, answer.status, answer.error, answer.durationMs, answer.response],
  );
}

const repeated = `update webhook_delivery set state = 'pending', tries = 0, is_early = false`;

/** Makes one delivery due again from the start of the schedule. False when the webhook has no such delivery. */
export async function repeatDelivery(tx: Tx, webhookId: string, deliveryId: string, now: Date): Promise<boolean> {
  const rows = await tx.query(
    'repeat-delivery',
    `${repeated}, next_attempt_at = $3 where webhook_id = $1 and id = $2 returning id`,
    [webhookId, deliveryId, now],
  );
  return rows.length > 0;
}

/** Makes deliveries that were given up due again, the oldest first; how many. */
export async function repeatFailed(tx: Tx, webhookId: string, limit: number, now: Date): Promise<number> {
  const rows = await tx.query(
    'repeat-failed-deliveries',
    `${repeated}, next_attempt_at = $3 where id in (
       select id from webhook_delivery where webhook_id = $1 and state = 'failed' order by created_at, id limit $2
     ) returning id`,
    [webhookId, limit, now],
  );
  return rows.length;
}

export interface PastEvent {
  readonly eventId: string;
  readonly sequence: bigint;
  readonly type: EventType;
}

/** Events of the account since a time that the endpoint subscribes to, delivered or not, oldest first. */
export const listWantedSince = (tx: Tx, webhookId: string, since: Date, limit: number): Promise<PastEvent[]> =>
  tx.query<PastEvent>(
    'list-wanted-since',
    `select e.id as "eventId", e.sequence, e.type from webhook w join event e on e.account_id = w.account_id
      where w.id = $1 and e.created_at >= $2 and not e.needs_fan_out
        and (w.event_types is null or e.type = any(w.event_types))
      order by e.sequence limit $3`,
    [webhookId, since, limit],
  );

/** Deliveries of events since a time to the `webhookUrl`s of single requests. */
export const listDeliveredSince = (tx: Tx, webhookId: string, since: Date, limit: number): Promise<PastEvent[]> =>
  tx.query<PastEvent>(
    'list-delivered-since',
    `select e.id as "eventId", e.sequence, e.type from webhook_delivery d join event e on e.sequence = d.sequence
      where d.webhook_id = $1 and e.created_at >= $2 order by e.sequence limit $3`,
    [webhookId, since, limit],
  );

/** Makes all deliveries of these events to the webhook due again. */
export async function repeatEvents(tx: Tx, webhookId: string, eventIds: readonly string[], now: Date): Promise<void> {
  await tx.query(
    'repeat-deliveries',
    `${repeated}, next_attempt_at = $3 where webhook_id = $1 and event_id = any($2)`,
    [webhookId, eventIds, now],
  );
}
