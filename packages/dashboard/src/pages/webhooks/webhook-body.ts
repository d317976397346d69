import type { EventType } from '@agent-network/contracts/events';
import { isSame } from '../../forms/is-same.ts';
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

/** The body that changes it: only what differs from the endpoint as the form began, so that nothing else is undone. */
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
