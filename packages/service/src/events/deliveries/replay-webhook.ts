import type { Api } from '@agent-network/contracts/api';
import type { DataOf, Parsed } from '@agent-network/contracts/endpoint';
import type { AccountCaller } from '../../accounts/caller.ts';
import { type Once, unkeyed } from '../../accounts/idempotency/once.ts';
import { invalid, notFound } from '../../lib/app-error.ts';
import { newId } from '../../lib/id.ts';
import type { Tx } from '../../store/sql.ts';
import { requireWebhook } from '../webhooks/account-webhook.ts';
import type { WebhookContext } from '../webhooks/manage-webhooks.ts';
import { lockWebhooks, markDue, type WebhookRow } from '../webhooks/webhook-store.ts';
import { listDeliveredSince, listWantedSince, repeatDelivery, repeatEvents, repeatFailed } from './delivery-store.ts';
import type { Dispatcher } from './dispatcher.ts';
import { insertDeliveries } from './fan-out-store.ts';

/** A larger replay would occupy an endpoint for hours; `GET /events` reads any number. */
const MAX_REPLAYED = 10_000;

/**
 * Repeats one delivery, all deliveries that were given up, or all events since a time that the webhook subscribes to, including those
 * missed while disabled. Ids and bytes stay the same; the retry schedule starts over. A disabled webhook has to be enabled first.
 */
export async function replayWebhook(
  ctx: WebhookContext & { readonly webhookDispatcher: Dispatcher },
  caller: Pick<AccountCaller, 'accountId'>,
  webhookId: string,
  input: Parsed<Api['replayWebhook']>['body'],
  once: Once = unkeyed,
): Promise<DataOf<Api['replayWebhook']>> {
  const { id } = await requireWebhook(ctx, caller.accountId, webhookId);
  const now = ctx.clock.now();
  const answer = await ctx.db.transaction(async (tx) => {
    const [webhook] = await lockWebhooks(tx, [id]);
    if (!webhook) throw notFound('webhook');
    if (webhook.status === 'disabled') throw invalid('webhookId', 'is disabled; enable it first');
    const replayed = await replay(tx, webhook, input, now);
    await markDue(tx, [id], now);
    return once.keep(tx, { webhookId, replayed });
  });
  ctx.webhookDispatcher.requestRun();
  return answer;
}

function replay(tx: Tx, webhook: WebhookRow, input: Parsed<Api['replayWebhook']>['body'], now: Date): Promise<number> {
  if ('since' in input) return replaySince(tx, webhook, new Date(input.since), now);
  if ('status' in input) return repeatFailed(tx, webhook.id, MAX_REPLAYED, now);
  return replayOne(tx, webhook, input.deliveryId, now);
}

async function replayOne(tx: Tx, webhook: WebhookRow, deliveryId: string, now: Date): Promise<number> {
  if (!(await repeatDelivery(tx, webhook.id, deliveryId, now))) throw notFound('delivery');
  return 1;
}

async function replaySince(tx: Tx, webhook: WebhookRow, since: Date, now: Date): Promise<number> {
  const list = webhook.kind === 'account' ? listDeliveredSince : listWantedSince;
  const events = await list(tx, webhook.id, since, MAX_REPLAYED + 1);
  if (events.length > MAX_REPLAYED)
    throw invalid('since', `leaves more than ${MAX_REPLAYED} events to replay; choose a later time or read /events`);
  const ids = events.map(({ eventId }) => eventId);
  await repeatEvents(tx, webhook.id, ids, now);
  if (webhook.kind === 'endpoint')
    await insertDeliveries(
      tx,
      events.map((event) => ({ id: newId('dlv'), webhookId: webhook.id, url: null, ...event })),
      now,
    );
  return events.length;
}
