import type { Api } from '@agent-network/contracts/api';
import type { DataOf, Parsed } from '@agent-network/contracts/endpoint';
import type { Delivery } from '@agent-network/contracts/webhooks';
import type { AccountCaller } from '../../accounts/caller.ts';
import { requireWebhook } from '../webhooks/account-webhook.ts';
import type { WebhookContext } from '../webhooks/manage-webhooks.ts';
import {
  type AttemptRow,
  countDeliveries,
  type DeliveryRow,
  listAttempts,
  listDeliveryRows,
} from './delivery-store.ts';

/** Past and pending deliveries of a webhook, newest first, with all attempts; of large bodies fewer than a page has. */
export async function listDeliveries(
  ctx: WebhookContext,
  caller: Pick<AccountCaller, 'accountId'>,
  webhookId: string,
  query: Parsed<Api['listDeliveries']>['query'],
): Promise<DataOf<Api['listDeliveries']>> {
  const webhook = await requireWebhook(ctx, caller.accountId, webhookId);
  const { status = null, deliveryId = null, eventId = null, type = null, limit = 20, offset = 0 } = query;
  const filter = { status, deliveryId, eventId, type };
  const [rows, total] = await Promise.all([
    listDeliveryRows(ctx.db, webhook.id, filter, { limit, offset }),
    countDeliveries(ctx.db, webhook.id, filter),
  ]);
  const attempts = await listAttempts(
    ctx.db,
    rows.map(({ deliveryId }) => deliveryId),
  );
  const ofDelivery = Map.groupBy(attempts, ({ deliveryId }) => deliveryId);
  const deliveries = rows.map((row) => toDelivery(row, ofDelivery.get(row.deliveryId) ?? []));
  return { deliveries, total, hasMore: offset + rows.length < total };
}

export const toDelivery = (delivery: DeliveryRow, attempts: readonly Omit<AttemptRow, 'deliveryId'>[]): Delivery => ({
  deliveryId: delivery.deliveryId,
  webhookId: delivery.webhookId,
  eventId: delivery.eventId,
  type: delivery.type,
  url: delivery.url,
  status: delivery.status,
  nextAttemptAt: delivery.nextAttemptAt?.toISOString() ?? null,
  attempts: attempts.map(({ number, at, status, error, durationMs, response }) => ({
    number,
    at: at.toISOString(),
    status,
    error,
    durationMs,
    response,
  })),
  payload: delivery.body === null ? null : JSON.parse(delivery.body),
  createdAt: delivery.createdAt.toISOString(),
});
