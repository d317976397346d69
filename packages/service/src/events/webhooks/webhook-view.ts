import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import type { Delivery } from '@agent-network/contracts/webhooks';
import type { AttemptRow, DeliveryRow } from '../deliveries/delivery-store.ts';
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
