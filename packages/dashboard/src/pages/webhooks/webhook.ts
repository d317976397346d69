import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import type { EventType } from '@agent-network/contracts/events';
import { isSame } from '../../forms/is-same.ts';

export type Webhook = DataOf<Api['listWebhooks']>['webhooks'][number];

/** Value for an id: the deliveries to `webhookUrl`s of single requests. */
export const ACCOUNT_WEBHOOK = 'account';

type WebhookState = 'enabled' | 'failing' | 'paused' | 'disabled';

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

/** Host and path of an endpoint, without the scheme. */
export const shortUrl = (url: string): string => url.replace(/^https?:\/\//, '').replace(/\/$/, '');

/** The form of an endpoint. */
export interface WebhookValues {
  readonly url: string;
  readonly description: string;
  /** null: all, also those to come. */
  readonly eventTypes: readonly EventType[] | null;
}

export const newWebhook: WebhookValues = { url: '', description: '', eventTypes: null };

export const valuesOf = ({ url, description, eventTypes }: Webhook): WebhookValues => ({
  url,
  description,
  eventTypes,
});

const common = ({ url, description }: WebhookValues) => ({ url: url.trim(), description: description.trim() });

/** The body that creates an endpoint. Without `eventTypes` it gets all events. */
export const creationBody = (values: WebhookValues) => ({
  ...common(values),
  ...(values.eventTypes === null ? {} : { eventTypes: [...values.eventTypes] }),
});

/** The body of an update, with only the fields changed since the form was opened, so that changes made elsewhere are not undone. */
export function changeBody(values: WebhookValues, before: WebhookValues) {
  const { url, description } = common(values);
  const eventTypes = values.eventTypes === null ? null : [...values.eventTypes];
  const changed = {
    ...(url === before.url ? {} : { url }),
    ...(isSame(eventTypes, before.eventTypes) ? {} : { eventTypes }),
  };
  // A body has to name a field: without any change it is this one, as it was.
  return description === before.description && !isSame(changed, {}) ? changed : { ...changed, description };
}
