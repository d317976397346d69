import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import type { EventType } from '@agent-network/contracts/events';

export type Webhook = DataOf<Api['listWebhooks']>['webhooks'][number];

/** In the place of an id: what is sent to the `webhookUrl`s of single requests. */
export const ACCOUNT_WEBHOOK = 'account';

export type WebhookState = 'enabled' | 'failing' | 'paused' | 'disabled';

export function webhookState({ status, failingSince, pausedUntil }: Webhook, nowMs: number): WebhookState {
  if (status === 'disabled') return 'disabled';
  if (failingSince !== null) return 'failing';
  return pausedUntil !== null && Date.parse(pausedUntil) > nowMs ? 'paused' : 'enabled';
}

/** "all events", "agent.online", "3 events". */
export function eventsText(types: readonly EventType[] | null): string {
  if (types === null) return 'all events';
  return types.length === 1 && types[0] ? types[0] : `${types.length} events`;
}

/** The host and path of an endpoint, without what every one has. */
export const shortUrl = (url: string): string => url.replace(/^https?:\/\//, '').replace(/\/$/, '');
