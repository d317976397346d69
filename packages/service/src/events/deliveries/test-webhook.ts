import type { Delivery } from '@agent-network/contracts/webhooks';
import type { AccountCaller } from '../../access/caller/caller.ts';
import { findMade, type Once, unkeyed } from '../../access/idempotency/once.ts';
import { invalid } from '../../lib/app-error.ts';
import { newId } from '../../lib/id.ts';
import { requireWebhook } from '../webhooks/account-webhook.ts';
import { judge } from '../webhooks/attempt.ts';
import type { WebhookContext } from '../webhooks/manage-webhooks.ts';
import { postWebhook } from '../webhooks/webhook-client.ts';
import { deliveryBody } from './delivery-body.ts';
import { findDeliveryOf, insertTestDelivery, listAttempts } from './delivery-store.ts';
import { toDelivery } from './delivery-view.ts';
import { sendDelivery } from './send-delivery.ts';

/**
 * Sends a test event to an endpoint, disabled or not, once and now, and returns the result, which does not count in its standing. Repeated
 * after a crash under the same Idempotency-Key, it is the same event.
 */
export async function testWebhook(
  ctx: WebhookContext & { readonly baseUrl: string },
  caller: Pick<AccountCaller, 'accountId'>,
  webhookId: string,
  once: Once = unkeyed,
): Promise<Delivery> {
  const webhook = await requireWebhook(ctx, caller.accountId, webhookId);
  if (webhook.url === null) throw invalid('webhookId', 'has no URL of its own; test an endpoint');
  const { made, id: keyedId } = await findMade(ctx, once, 'evt', (id) => findDeliveryOf(ctx.db, webhook.id, id));
  if (made) return toDelivery(made, await listAttempts(ctx.db, [made.deliveryId]));
  const at = ctx.clock.now();
  const eventId = keyedId ?? newId('evt');
  const happened = { type: 'webhook.test', subjectId: webhook.id, createdAt: at } as const;
  const body = deliveryBody(happened, { webhookId }, ctx.baseUrl);
  const message = { eventId, sequence: null, url: webhook.url, body };
  const { signal } = new AbortController();
  const answer = await sendDelivery(ctx, webhook, message, (post) => postWebhook(ctx, { ...post, signal }));
  const state = judge(answer, 1, at, 0).state === 'delivered' ? 'delivered' : 'failed';
  const id = newId('dlv');
  await ctx.db.transaction((tx) =>
    insertTestDelivery(tx, { id, webhookId: webhook.id, eventId, body, state, at, answer }),
  );
  const { type } = happened;
  const row = {
    deliveryId: id,
    webhookId: webhook.id,
    eventId,
    type,
    url: webhook.url,
    status: state,
    nextAttemptAt: null,
    body,
  } as const;
  return toDelivery({ ...row, createdAt: at }, [{ number: 1, at, ...answer }]);
}
