import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import type { WebhookRow } from './webhook-store.ts';

export const toWebhook = (webhook: WebhookRow): DataOf<Api['updateWebhook']> => ({
  webhookId: webhook.id,
  url: webhook.url ?? '',
  description: webhook.description,
  eventTypes: webhook.eventTypes,
  status: webhook.status,
  disabledReason: webhook.disabledReason,
  failingSince: webhook.failingSince?.toISOString() ?? null,
  pausedUntil: webhook.pausedUntil?.toISOString() ?? null,
  createdAt: webhook.createdAt.toISOString(),
});
