import type { EventType } from '@agent-network/contracts/events';
import type { Tx } from '../../store/sql.ts';
import { UNDECIDED_FROM } from '../outbox/event-store.ts';

export interface UntoldEvent {
  readonly sequence: bigint;
  readonly eventId: string;
  readonly accountId: string;
  readonly type: EventType;
  readonly webhookUrl: string | null;
  /** True when an earlier event may still appear: its transaction is open. */
  readonly isUndecided: boolean;
}

/** Takes the fan-out lock until the transaction ends; one holder at a time keeps deliveries in order. False when another holds it. */
export async function lockFanOut(tx: Tx): Promise<boolean> {
  const rows = await tx.query('lock-fan-out', 'select xid_offset from event_clock for no key update skip locked');
  return rows.length > 0;
}

export const HAS_UNTOLD = '(select sequence from event where needs_fan_out order by sequence limit 1) is not null';

export const listUntold = (tx: Tx, limit: number): Promise<UntoldEvent[]> =>
  tx.query<UntoldEvent>(
    'list-untold-events',
    `select sequence, id as "eventId", account_id as "accountId", type, webhook_url as "webhookUrl",
            sequence >= ${UNDECIDED_FROM} and created_at > now() - interval '10 seconds' as "isUndecided"
       from event where needs_fan_out order by sequence limit $1`,
    [limit],
  );

export interface EventRecipient {
  readonly id: string;
  readonly accountId: string;
  readonly kind: 'endpoint' | 'account';
  readonly eventTypes: readonly EventType[] | null;
}

/** The enabled webhooks of accounts, locked until the transaction ends. */
export const lockListeners = (tx: Tx, accountIds: readonly string[]): Promise<EventRecipient[]> =>
  tx.query<EventRecipient>(
    'lock-listeners',
    `select id, account_id as "accountId", kind, event_types as "eventTypes" from webhook
      where account_id = any($1) and status = 'enabled' order by id for no key update`,
    [accountIds],
  );

export interface NewDelivery {
  readonly id: string;
  readonly webhookId: string;
  readonly eventId: string;
  readonly sequence: bigint;
  readonly type: string;
  readonly url: string | null;
}

/** Inserts deliveries that are due at once; an event has one for each webhook. */
export async function insertDeliveries(tx: Tx, deliveries: readonly NewDelivery[], now: Date): Promise<void> {
  await tx.query(
    'insert-deliveries',
    `insert into webhook_delivery (id, webhook_id, event_id, sequence, type, url, state, attempts, tries, next_attempt_at, created_at)
     select id, webhook, event, sequence, type, url, 'pending', 0, 0, $7, $7
       from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[])
         as n(id, webhook, event, sequence, type, url)
     on conflict (webhook_id, event_id) do nothing`,
    [
      deliveries.map((d) => d.id),
      deliveries.map((d) => d.webhookId),
      deliveries.map((d) => d.eventId),
      deliveries.map((d) => d.sequence),
      deliveries.map((d) => d.type),
      deliveries.map((d) => d.url),
      now,
    ],
  );
}

export async function markTold(tx: Tx, sequences: readonly bigint[]): Promise<void> {
  await tx.query('mark-told', 'update event set needs_fan_out = false where sequence = any($1::bigint[])', [sequences]);
}
