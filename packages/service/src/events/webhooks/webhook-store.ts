import type { EventType } from '@agent-network/contracts/events';
import type { Sql, Tx } from '../../store/sql.ts';
import type { EndpointHealth } from './endpoint-health.ts';

export interface WebhookRow extends EndpointHealth {
  readonly id: string;
  readonly accountId: string;
  readonly kind: 'endpoint' | 'account';
  /** null for the kind `account`: each delivery has its own. */
  readonly url: string | null;
  readonly description: string;
  readonly eventTypes: EventType[] | null;
  readonly secretSealed: Buffer;
  readonly oldSecretSealed: Buffer | null;
  readonly oldValidUntil: Date | null;
  readonly createdAt: Date;
}

export const webhookColumns = `w.id, w.account_id as "accountId", w.kind, w.url, w.description, w.event_types as "eventTypes", w.status,
  w.disabled_reason as "disabledReason", w.secret_sealed as "secretSealed", w.old_secret_sealed as "oldSecretSealed",
  w.old_valid_until as "oldValidUntil", w.failing_since as "failingSince", w.paused_until as "pausedUntil",
  w.created_at as "createdAt"`;

export interface NewWebhook {
  readonly id: string;
  readonly accountId: string;
  readonly kind: 'endpoint' | 'account';
  readonly url: string | null;
  readonly description: string;
  readonly eventTypes: readonly EventType[] | null;
  readonly secretSealed: Buffer;
}

/** Inserts a webhook; returns null when the account already has one of kind `account`. */
export async function insertWebhook(sql: Sql, webhook: NewWebhook, now: Date): Promise<WebhookRow | null> {
  const rows = await sql.query<WebhookRow>(
    'insert-webhook',
    `insert into webhook as w (id, account_id, kind, url, description, event_types, status, secret_sealed, created_at)
     values ($1, $2, $3, $4, $5, $6, 'enabled', $7, $8)
     on conflict (account_id) where kind = 'account' do nothing returning ${webhookColumns}`,
    [
      webhook.id,
      webhook.accountId,
      webhook.kind,
      webhook.url,
      webhook.description,
      webhook.eventTypes,
      webhook.secretSealed,
      now,
    ],
  );
  return rows[0] ?? null;
}

/** Number of endpoints of an account; blocks additions until the transaction ends. */
export async function countEndpointsLocked(tx: Tx, accountId: string): Promise<number> {
  await tx.query('lock-account-of-webhooks', 'select from account where id = $1 for no key update', [accountId]);
  const [row] = await tx.query<{ count: bigint }>(
    'count-endpoints',
    `select count(*) as count from webhook where account_id = $1 and kind = 'endpoint'`,
    [accountId],
  );
  return Number(row?.count ?? 0);
}

export const listEndpoints = (sql: Sql, accountId: string): Promise<WebhookRow[]> =>
  sql.query<WebhookRow>(
    'list-endpoints',
    `select ${webhookColumns} from webhook w where account_id = $1 and kind = 'endpoint' order by created_at, id`,
    [accountId],
  );

export async function findEndpoint(sql: Sql, accountId: string, id: string): Promise<WebhookRow | null> {
  const rows = await sql.query<WebhookRow>(
    'find-endpoint',
    `select ${webhookColumns} from webhook w where account_id = $1 and id = $2 and kind = 'endpoint'`,
    [accountId, id],
  );
  return rows[0] ?? null;
}

export async function findAccountWebhook(sql: Sql, accountId: string): Promise<WebhookRow | null> {
  const rows = await sql.query<WebhookRow>(
    'find-account-webhook',
    `select ${webhookColumns} from webhook w where account_id = $1 and kind = 'account'`,
    [accountId],
  );
  return rows[0] ?? null;
}

/** The webhooks with row locks until the transaction ends; locked in one order, which prevents deadlocks. */
export const lockWebhooks = (tx: Tx, ids: readonly string[]): Promise<WebhookRow[]> =>
  tx.query<WebhookRow>(
    'lock-webhooks',
    `select ${webhookColumns} from webhook w where id = any($1) order by id for no key update`,
    [ids],
  );

/** Writes the owner's settings and the health. */
export async function updateWebhookRow(tx: Tx, webhook: WebhookRow): Promise<void> {
  await tx.query(
    'update-webhook',
    `update webhook set url = $2, description = $3, event_types = $4, status = $5, disabled_reason = $6, failing_since = $7,
            paused_until = $8, due_at = case $5::text when 'enabled' then due_at end
      where id = $1`,
    [
      webhook.id,
      webhook.url,
      webhook.description,
      webhook.eventTypes,
      webhook.status,
      webhook.disabledReason,
      webhook.failingSince,
      webhook.pausedUntil,
    ],
  );
}

/** Disables an endpoint that is about to be deleted. */
export async function disableEndpoint(sql: Sql, id: string): Promise<void> {
  await sql.query('disable-endpoint', `update webhook set status = 'disabled', due_at = null where id = $1`, [id]);
}

/** Removes up to `most` attempts of deliveries of a webhook; returns their number. Skips rows that another transaction has locked. */
export async function removeAttemptsOf(sql: Sql, id: string, most: number): Promise<number> {
  const rows = await sql.query(
    'remove-attempts-of-webhook',
    `delete from webhook_attempt where (delivery_id, number) in (
       select a.delivery_id, a.number from (select id from webhook_delivery where webhook_id = $1 order by created_at, id limit $2) d
         join webhook_attempt a on a.delivery_id = d.id limit $2 for update of a skip locked) returning 1`,
    [id, most],
  );
  return rows.length;
}

/** Removes up to `most` deliveries of a webhook, with their remaining attempts. Returns their number. */
export async function removeDeliveriesOf(sql: Sql, id: string, most: number): Promise<number> {
  const rows = await sql.query(
    'remove-deliveries-of-webhook',
    `delete from webhook_delivery where id in (
       select id from webhook_delivery where webhook_id = $1 order by created_at, id limit $2) returning 1`,
    [id, most],
  );
  return rows.length;
}

/** Deletes an endpoint with its deliveries; false when there is none. */
export async function deleteEndpoint(sql: Sql, accountId: string, id: string): Promise<boolean> {
  const rows = await sql.query(
    'delete-endpoint',
    `delete from webhook where account_id = $1 and id = $2 and kind = 'endpoint' returning id`,
    [accountId, id],
  );
  return rows.length > 0;
}

/** Adds a new secret to the old one, unless an older one is still valid. */
export async function rotateSecretRow(
  sql: Sql,
  id: string,
  secret: { sealed: Buffer; oldValidUntil: Date; now: Date },
): Promise<boolean> {
  const rows = await sql.query(
    'rotate-webhook-secret',
    `update webhook set old_secret_sealed = secret_sealed, old_valid_until = $3, secret_sealed = $2
      where id = $1 and (old_valid_until is null or old_valid_until <= $4) returning id`,
    [id, secret.sealed, secret.oldValidUntil, secret.now],
  );
  return rows.length > 0;
}

/** Records when deliveries of enabled webhooks are due. A transaction that writes them holds the webhooks' locks, or commits before. */
export async function markDue(sql: Sql, ids: readonly string[], at: Date): Promise<void> {
  await sql.query(
    'mark-webhooks-due',
    `update webhook set due_at = least(due_at, greatest($2, paused_until)) where id = any($1) and status = 'enabled'`,
    [ids, at],
  );
}

/** Accounts with an endpoint that names this event type. */
export async function listSubscribers(sql: Sql, type: EventType, limit: number): Promise<string[]> {
  const rows = await sql.query<{ accountId: string }>(
    'list-subscribers',
    `select distinct account_id as "accountId" from webhook
      where kind = 'endpoint' and status = 'enabled' and event_types @> array[$1::text] order by 1 limit $2`,
    [type, limit],
  );
  return rows.map(({ accountId }) => accountId);
}
