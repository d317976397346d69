import type { Delivery } from '@agent-network/contracts/webhooks';
import type { AccountCaller } from '../../accounts/caller.ts';
import { findByIdempotencyKey, type Once, unkeyed } from '../../accounts/idempotency/once.ts';
import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import { invalid } from '../../lib/app-error.ts';
import { newId } from '../../lib/id.ts';
import type { Store } from '../../store/database.ts';
import { requireWebhook } from '../webhooks/account-webhook.ts';
import { type EndpointAnswer, judge, unanswered } from '../webhooks/attempt.ts';
import type { WebhookContext } from '../webhooks/manage-webhooks.ts';
import { signedHeaders } from '../webhooks/sign-delivery.ts';
import { postWebhook } from '../webhooks/webhook-client.ts';
import type { WebhookRow } from '../webhooks/webhook-store.ts';
import { deliveryBody } from './delivery-body.ts';
import { findDeliveryOf, insertTestDelivery, listAttempts } from './delivery-store.ts';
import type { Sender } from './dispatcher.ts';
import { toDelivery } from './list-deliveries.ts';

export interface WebhookMessage {
  readonly eventId: string;
  readonly sequence: bigint | null;
  readonly url: string;
  readonly body: string;
}

/** Text for the owner in the deliveries after the node has lost the secret. */
const secretLost = unanswered(
  "Nothing was sent: the webhook's secret was sealed with an earlier SECRET_KEY of this node. Rotate the secret.",
);

/** Signs a message with the valid secrets, sends it once, and returns the answer. Without a secret nothing is sent. */
export async function sendDelivery(
  ctx: Store & Pick<NodeKeys, 'secrets'>,
  webhook: WebhookRow,
  message: WebhookMessage,
  send: Sender['send'],
): Promise<EndpointAnswer> {
  const now = ctx.clock.now();
  const timestampS = Math.floor(now.getTime() / 1000);
  const secrets = secretsOf(ctx, webhook, now);
  if (secrets.length === 0) return secretLost;
  const signed = signedHeaders({ id: message.eventId, timestampS, body: message.body }, secrets);
  const headers = message.sequence === null ? signed : { ...signed, 'webhook-sequence': String(message.sequence) };
  return send({ url: message.url, headers, body: message.body });
}

/** The current secrets; one that was sealed with another secret of the node is lost. */
function secretsOf({ secrets }: Pick<NodeKeys, 'secrets'>, webhook: WebhookRow, now: Date): string[] {
  const { secretSealed, oldSecretSealed, oldValidUntil } = webhook;
  const isOverlap = oldSecretSealed !== null && oldValidUntil !== null && oldValidUntil > now;
  return (isOverlap ? [secretSealed, oldSecretSealed] : [secretSealed]).flatMap(
    (sealed) => secrets.openOrNull(sealed) ?? [],
  );
}

/**
 * Sends a test event to an endpoint, disabled or not, once and now, and returns the result, which does not count in its health. Repeated
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
  const { made, id: keyedId } = await findByIdempotencyKey(ctx, once, 'evt', (id) =>
    findDeliveryOf(ctx.db, webhook.id, id),
  );
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
