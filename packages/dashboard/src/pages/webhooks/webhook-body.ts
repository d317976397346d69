import type { EventType } from '@agent-network/contracts/events';
import type { Webhook } from './webhook.ts';

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

/** The body that creates it: all events are asked for by naming none. */
export const creationBody = (values: WebhookValues) => ({
  ...common(values),
  ...(values.eventTypes === null ? {} : { eventTypes: [...values.eventTypes] }),
});

/** The body that changes it. */
export const changeBody = (values: WebhookValues) => ({
  ...common(values),
  eventTypes: values.eventTypes === null ? null : [...values.eventTypes],
});
