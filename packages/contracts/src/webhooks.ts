import { z } from 'zod';
import { type ShownOnce, secretNotice, secretShownOnce } from './access/shown-once.ts';
import { displayText } from './display-text.ts';
import { endpoint } from './endpoint.ts';
import { eventTypes } from './events.ts';
import { pageQuery, queryInteger } from './page.ts';
import { Id, JsonObject, Timestamp, webUrl } from './scalars.ts';

const EventTypeName = z.enum(eventTypes);
const Subscriptions = z
  .array(EventTypeName)
  .min(1)
  .max(eventTypes.length)
  .describe('Event types to send. Default: all.');

const Webhook = z.object({
  webhookId: Id,
  url: z.string(),
  description: z.string(),
  eventTypes: z.array(EventTypeName).nullable().describe('null: all.'),
  status: z.enum(['enabled', 'disabled']),
  disabledReason: z
    .string()
    .nullable()
    .describe('Reason that the node stopped sending; null while enabled or disabled by you.'),
  failingSince: Timestamp.nullable().describe(
    'Start of the current series of failures; null: the last delivery arrived.',
  ),
  pausedUntil: Timestamp.nullable().describe('No delivery before this time, as the endpoint requested.'),
  createdAt: Timestamp,
});

const secret = z.string().describe('`whsec_…`: signs every delivery (Standard Webhooks).');

const NewSecret = { secret: secretShownOnce('`whsec_…`: signs every delivery (Standard Webhooks).'), secretNotice };
const newSecret: ShownOnce = {
  field: 'secret',
  insteadOfIt: 'GET /account/webhooks/{webhookId}/secret shows it to whoever may manage webhooks.',
};

const WebhookInput = z.object({
  url: webUrl(2048),
  description: displayText(200).default(''),
  eventTypes: Subscriptions.optional(),
});

/** Attempts of a delivery that are kept: it can be replayed any number of times. */
export const MAX_KEPT_ATTEMPTS = 20;

const Attempt = z.object({
  number: z.int().min(1),
  at: Timestamp,
  status: z.int().nullable().describe('The HTTP status; null when there was none.'),
  error: z.string().nullable(),
  durationMs: z.int().min(0),
  response: z
    .string()
    .nullable()
    .describe("The beginning of the endpoint's answer: 1,024 characters, of the latest attempt up to 16 KiB."),
});

const Delivery = z.object({
  deliveryId: Id,
  webhookId: Id,
  eventId: Id,
  type: EventTypeName.or(z.literal('webhook.test')),
  url: z.string(),
  status: z.enum(['pending', 'delivered', 'failed']),
  nextAttemptAt: Timestamp.nullable(),
  attempts: z.array(Attempt).describe(`The latest ${MAX_KEPT_ATTEMPTS} attempts, the oldest first.`),
  payload: z
    .looseObject({ type: z.string(), timestamp: Timestamp, data: JsonObject })
    .nullable()
    .describe('The body that is sent; null: none was sent yet.'),
  createdAt: Timestamp,
});
export type Delivery = z.infer<typeof Delivery>;

export type StoredEvent = z.infer<typeof StoredEvent>;
export const StoredEvent = z.object({
  eventId: Id.describe('The `webhook-id` of its deliveries.'),
  sequence: z.int().min(1).describe('Increases with time within the account; use it as `after`.'),
  type: EventTypeName,
  timestamp: Timestamp,
  data: JsonObject.describe('The object, as its GET returns it; its fields are those of the webhook of that type.'),
});

/** Events of a live stream: first the one with the position, then every event of the account as it happens; one type represents all. */
export const liveEvents = {
  'stream.open': {
    when: 'The stream is open: events after this id follow.',
    data: z.object({ after: z.int().min(0) }),
  },
  'invocation.completed': {
    when: 'An event of the account, under its own type, with its `sequence` as the id.',
    data: StoredEvent,
  },
} as const;

const params = z.object({ webhookId: Id });
const common = { tag: 'Account', auth: 'key', scope: 'webhooks:manage', limit: 'api' } as const;

export const webhookEndpoints = {
  listEvents: endpoint({
    method: 'GET',
    path: '/events',
    summary: 'List or stream the events of the account in order, instead of webhooks',
    tag: 'Account',
    auth: 'key',
    scope: 'webhooks:manage',
    limit: 'api',
    query: z.object({
      after: queryInteger(0, Number.MAX_SAFE_INTEGER)
        .optional()
        .describe('The last `sequence` that you have. Default: 0; for a stream: the latest one.'),
      lastEventId: queryInteger(0, Number.MAX_SAFE_INTEGER)
        .optional()
        .describe('Another name of `after`, used by polyfills of EventSource.'),
      type: EventTypeName.optional(),
      limit: pageQuery.limit,
    }),
    headers: z.object({
      accept: z.string().max(1024).optional().describe('text/event-stream: events as they happen.'),
      'last-event-id': z
        .string()
        .regex(/^\d{0,15}$/, 'is not the id of an event')
        .optional()
        .describe('Resumes a stream after this `sequence`; empty: a new stream.'),
    }),
    stream: 'on_request',
    data: z.object({
      events: z.array(StoredEvent),
      hasMore: z.boolean(),
      next: z.int().describe('Use it as `after` of the next page.'),
    }),
    errors: ['GONE'],
  }),
  listWebhooks: endpoint({
    ...common,
    method: 'GET',
    path: '/account/webhooks',
    summary: 'List the webhook endpoints of the account',
    data: z.object({ webhooks: z.array(Webhook) }),
    errors: [],
  }),
  createWebhook: endpoint({
    ...common,
    method: 'POST',
    path: '/account/webhooks',
    summary: 'Create a webhook endpoint: events are sent to your URL',
    body: WebhookInput,
    data: Webhook.extend(NewSecret),
    shownOnce: newSecret,
    errors: [],
  }),
  updateWebhook: endpoint({
    ...common,
    method: 'PUT',
    path: '/account/webhooks/{webhookId}',
    summary: 'Change the URL, event types or status of an endpoint',
    params,
    body: z
      .object({
        url: webUrl(2048).optional(),
        description: displayText(200).optional(),
        eventTypes: Subscriptions.nullable().optional(),
        status: z.enum(['enabled', 'disabled']).optional(),
      })
      .refine((body) => Object.keys(body).length > 0, 'has no field to change'),
    data: Webhook,
    errors: [],
  }),
  deleteWebhook: endpoint({
    ...common,
    method: 'DELETE',
    path: '/account/webhooks/{webhookId}',
    summary: 'Delete a webhook endpoint',
    params,
    data: z.object({ webhookId: Id, deleted: z.literal(true) }),
    errors: [],
  }),
  getWebhookSecret: endpoint({
    ...common,
    method: 'GET',
    path: '/account/webhooks/{webhookId}/secret',
    summary:
      'Read the signing secret of an endpoint; `account` as the id: the secret for `webhookUrl` of single requests',
    params,
    data: z.object({ webhookId: z.string(), secret }),
    errors: ['CONFLICT'],
  }),
  rotateWebhookSecret: endpoint({
    ...common,
    method: 'POST',
    path: '/account/webhooks/{webhookId}/rotate',
    summary: 'Replace the signing secret; for 24 hours deliveries are signed with both',
    params,
    data: z.object({ webhookId: z.string(), ...NewSecret, oldValidUntil: Timestamp }),
    shownOnce: newSecret,
    errors: [],
  }),
  testWebhook: endpoint({
    ...common,
    method: 'POST',
    path: '/account/webhooks/{webhookId}/test',
    summary: 'Send a test event now and return the outcome',
    params,
    data: Delivery,
    errors: [],
  }),
  listDeliveries: endpoint({
    ...common,
    method: 'GET',
    path: '/account/webhooks/{webhookId}/deliveries',
    summary:
      'List the deliveries to an endpoint with every attempt, newest first; `account` as the id: to `webhookUrl`s',
    params,
    query: z.object({
      status: z.enum(['pending', 'delivered', 'failed']).optional(),
      deliveryId: Id.optional(),
      eventId: Id.optional(),
      type: EventTypeName.or(z.literal('webhook.test'))
        .optional()
        .describe(
          'Among the latest 20,000 deliveries that match the other filters; of pending ones, among those that are tried first.',
        ),
      limit: pageQuery.limit.describe(
        'Default 20; a page of large bodies has fewer. The next one begins at `offset` plus the number in this one.',
      ),
      offset: pageQuery.offset,
    }),
    data: z.object({
      deliveries: z.array(Delivery),
      total: z.int().min(0).describe('How many match: exact up to 20,000, where counting ends.'),
      hasMore: z.boolean(),
    }),
    errors: [],
  }),
  replayWebhook: endpoint({
    ...common,
    method: 'POST',
    path: '/account/webhooks/{webhookId}/replay',
    summary: 'Resend one delivery, all since a time, or all that failed, with the same ids',
    params,
    body: z.union([
      z.object({ deliveryId: Id }),
      z.object({ since: Timestamp }),
      z.object({
        status: z.literal('failed').describe('All deliveries that were given up, at most 10,000 in one call.'),
      }),
    ]),
    data: z.object({ webhookId: z.string(), replayed: z.int().min(0) }),
    errors: [],
  }),
};
