import type { Delivery } from '@agent-network/contracts/webhooks';
import type { AttemptRow, DeliveryRow } from './delivery-store.ts';

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
