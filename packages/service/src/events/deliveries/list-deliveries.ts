import type { Api } from '@agent-network/contracts/api';
import type { DataOf, Parsed } from '@agent-network/contracts/endpoint';
import type { AccountCaller } from '../../access/caller/caller.ts';
import { requireWebhook } from '../webhooks/account-webhook.ts';
import type { WebhookContext } from '../webhooks/manage-webhooks.ts';
import { countDeliveries, listAttempts, listDeliveryRows } from './delivery-store.ts';
import { toDelivery } from './delivery-view.ts';

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
