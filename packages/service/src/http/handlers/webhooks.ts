import type { webhookEndpoints } from '@agent-network/contracts/webhooks';
import { requireAccount } from '../../access/caller/caller.ts';
import { listDeliveries } from '../../events/deliveries/list-deliveries.ts';
import { replayWebhook } from '../../events/deliveries/replay-webhook.ts';
import { testWebhook } from '../../events/deliveries/test-webhook.ts';
import { listEvents, requireKept } from '../../events/outbox/read-events.ts';
import { createWebhook, deleteWebhook, listWebhooks, updateWebhook } from '../../events/webhooks/manage-webhooks.ts';
import { readWebhookSecret, rotateWebhookSecret } from '../../events/webhooks/webhook-secrets.ts';
import { SseAnswer } from '../answer/sse.ts';
import type { Handlers } from '../request/handler.ts';
import { resumeAfter } from './resume-after.ts';

export const webhookHandlers = {
  async listEvents(ctx, { caller, query, headers }) {
    const account = requireAccount(caller);
    const after = resumeAfter({ headers, query });
    if (!(headers.accept ?? '').includes('text/event-stream'))
      return listEvents(ctx, account, { ...query, after: query.lastEventId ?? query.after });
    // Refused before the stream is open: clients open one that breaks again and again.
    if (after !== null) await requireKept(ctx, account, after);
    return new SseAnswer(ctx.liveEvents.open(account, { after, type: query.type ?? null }));
  },
  listWebhooks: (ctx, { caller }) => listWebhooks(ctx, requireAccount(caller)),
  createWebhook: (ctx, { caller, body, once }) => createWebhook(ctx, requireAccount(caller), body, once),
  updateWebhook: (ctx, { caller, params, body }) => updateWebhook(ctx, requireAccount(caller), params.webhookId, body),
  deleteWebhook: (ctx, { caller, params }) => deleteWebhook(ctx, requireAccount(caller), params.webhookId),
  getWebhookSecret: (ctx, { caller, params }) => readWebhookSecret(ctx, requireAccount(caller), params.webhookId),
  rotateWebhookSecret: (ctx, { caller, params, once }) =>
    rotateWebhookSecret(ctx, requireAccount(caller), params.webhookId, once),
  testWebhook: (ctx, { caller, params, once }) => testWebhook(ctx, requireAccount(caller), params.webhookId, once),
  listDeliveries: (ctx, { caller, params, query }) =>
    listDeliveries(ctx, requireAccount(caller), params.webhookId, query),
  replayWebhook: (ctx, { caller, params, body, once }) =>
    replayWebhook(ctx, requireAccount(caller), params.webhookId, body, once),
} satisfies Handlers<keyof typeof webhookEndpoints>;
