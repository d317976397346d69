import type { Api } from '@agent-network/contracts/api';
import type { DataOf, Parsed } from '@agent-network/contracts/endpoint';
import type { AccountCaller } from '../../accounts/caller.ts';
import { type Once, unkeyed } from '../../accounts/idempotency/once.ts';
import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import { AppError, notFound } from '../../lib/app-error.ts';
import { DAY_MS } from '../../lib/duration.ts';
import { newId } from '../../lib/id.ts';
import type { Outbound } from '../../lib/net/guarded-fetch.ts';
import { removeForARound } from '../../lib/retention.ts';
import type { Store } from '../../store/database.ts';
import { requireEndpoint, requireWebhook } from './account-webhook.ts';
import { failPending } from './fail-pending.ts';
import { newWebhookSecret } from './sign-delivery.ts';
import { requireAllowedUrl } from './webhook-client.ts';
import {
  countEndpointsLocked,
  deleteEndpoint,
  disableEndpoint,
  insertWebhook,
  listEndpoints,
  lockWebhooks,
  markDue,
  removeAttemptsOf,
  removeDeliveriesOf,
  rotateSecretRow,
  updateWebhookRow,
  type WebhookRow,
} from './webhook-store.ts';

export type WebhookContext = Store & Pick<NodeKeys, 'secrets'> & Outbound;
type WebhookCaller = Pick<AccountCaller, 'accountId'>;

const MAX_ENDPOINTS = 20;

export async function listWebhooks(ctx: Store, caller: WebhookCaller): Promise<DataOf<Api['listWebhooks']>> {
  return { webhooks: (await listEndpoints(ctx.db, caller.accountId)).map(toWebhook) };
}

/** Adds an endpoint, which receives events from now on. An account has at most 20. */
export async function createWebhook(
  ctx: WebhookContext,
  caller: WebhookCaller,
  input: Parsed<Api['createWebhook']>['body'],
  once: Once = unkeyed,
): Promise<DataOf<Api['createWebhook']>> {
  requireAllowedUrl(ctx, 'url', input.url);
  const { accountId } = caller;
  const { url, description } = input;
  const secret = newWebhookSecret();
  const eventTypes = input.eventTypes ? [...new Set(input.eventTypes)] : null;
  const made = { id: newId('whk'), accountId, kind: 'endpoint', url, description, eventTypes } as const;
  return ctx.db.transaction(async (tx) => {
    if ((await countEndpointsLocked(tx, accountId)) >= MAX_ENDPOINTS)
      throw new AppError('CONFLICT', `An account has at most ${MAX_ENDPOINTS} webhooks; delete one first.`);
    const webhook = await insertWebhook(tx, { ...made, secretSealed: ctx.secrets.seal(secret) }, ctx.clock.now());
    return once.keep(tx, { ...toWebhook(webhook as WebhookRow), secret });
  });
}

/**
 * Changes an endpoint. Disabling fails its pending deliveries; enabling, and another URL, reset its failures and pause. A replay delivers
 * missed events.
 */
export async function updateWebhook(
  ctx: WebhookContext,
  caller: WebhookCaller,
  webhookId: string,
  input: Parsed<Api['updateWebhook']>['body'],
): Promise<DataOf<Api['updateWebhook']>> {
  if (input.url !== undefined) requireAllowedUrl(ctx, 'url', input.url);
  await requireEndpoint(ctx.db, caller.accountId, webhookId);
  // Ends the deliveries that a process left pending when it died: they belong to the time before.
  if (input.status === 'enabled') await failPending(ctx, webhookId);
  const webhook = await ctx.db.transaction(async (tx) => {
    const [before] = await lockWebhooks(tx, [webhookId]);
    if (!before) throw notFound('webhook');
    const changed = changedBy(before, input);
    await updateWebhookRow(tx, changed);
    // The deliveries that waited for the end of the pause are due now.
    if (before.pausedUntil && !changed.pausedUntil && changed.status === 'enabled')
      await markDue(tx, [webhookId], ctx.clock.now());
    return changed;
  });
  if (webhook.status === 'disabled') await failPending(ctx, webhookId);
  return toWebhook(webhook);
}

function changedBy(webhook: WebhookRow, input: Parsed<Api['updateWebhook']>['body']): WebhookRow {
  const { url = webhook.url, description = webhook.description, eventTypes, status } = input;
  const isSwitched = status !== undefined && (status === 'enabled' || webhook.status === 'enabled');
  return {
    ...webhook,
    url,
    description,
    eventTypes: eventTypes === undefined ? webhook.eventTypes : eventTypes && [...new Set(eventTypes)],
    // Failures and a pause belong to the URL that answered with them.
    ...(isSwitched || url !== webhook.url ? { failingSince: null, pausedUntil: null } : {}),
    ...(isSwitched ? { status, disabledReason: null } : {}),
  };
}

/**
 * Deletes an endpoint with its deliveries: those in steps, while it is disabled, so that the last statement locks it briefly. Throws
 * UNAVAILABLE when there are more than one request can remove; repeating the request continues.
 */
export async function deleteWebhook(
  ctx: Store,
  caller: WebhookCaller,
  webhookId: string,
  { roundMs }: { readonly roundMs?: number } = {},
): Promise<DataOf<Api['deleteWebhook']>> {
  const { id } = await requireEndpoint(ctx.db, caller.accountId, webhookId);
  await disableEndpoint(ctx.db, id);
  const remove = async (most: number) =>
    (await removeAttemptsOf(ctx.db, id, most)) || removeDeliveriesOf(ctx.db, id, most);
  if (!(await removeForARound(remove, { roundMs })))
    throw new AppError(
      'UNAVAILABLE',
      'The endpoint is disabled, and many of its deliveries are left: repeat the request.',
    );
  if (!(await deleteEndpoint(ctx.db, caller.accountId, webhookId))) throw notFound('webhook');
  return { webhookId, deleted: true };
}

const toWebhook = (webhook: WebhookRow): DataOf<Api['updateWebhook']> => ({
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

const OVERLAP_MS = DAY_MS;

export async function readWebhookSecret(
  ctx: WebhookContext,
  caller: Pick<AccountCaller, 'accountId'>,
  webhookId: string,
): Promise<DataOf<Api['getWebhookSecret']>> {
  const webhook = await requireWebhook(ctx, caller.accountId, webhookId);
  const secret = ctx.secrets.openOrNull(webhook.secretSealed);
  if (secret === null)
    throw new AppError(
      'CONFLICT',
      'The secret was sealed with an earlier SECRET_KEY of this node and cannot be read: rotate it.',
    );
  return { webhookId, secret };
}

/** Rotates the secret. Deliveries are signed with both for 24 hours; another rotation in that time throws CONFLICT. */
export async function rotateWebhookSecret(
  ctx: WebhookContext,
  caller: Pick<AccountCaller, 'accountId'>,
  webhookId: string,
  once: Once = unkeyed,
): Promise<DataOf<Api['rotateWebhookSecret']>> {
  const webhook = await requireWebhook(ctx, caller.accountId, webhookId);
  const now = ctx.clock.now();
  const oldValidUntil = new Date(now.getTime() + OVERLAP_MS);
  const secret = newWebhookSecret();
  const rotated = { sealed: ctx.secrets.seal(secret), oldValidUntil, now };
  return ctx.db.transaction(async (tx) => {
    if (!(await rotateSecretRow(tx, webhook.id, rotated)))
      throw new AppError(
        'CONFLICT',
        'The secret was rotated less than 24 hours ago; the one before it is still valid.',
      );
    return once.keep(tx, { webhookId, secret, oldValidUntil: oldValidUntil.toISOString() });
  });
}
