import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import { notFound } from '../../lib/app-error.ts';
import { newId } from '../../lib/id.ts';
import { invariant } from '../../lib/invariant.ts';
import type { Store } from '../../store/database.ts';
import type { Sql } from '../../store/sql.ts';
import { newWebhookSecret } from './sign-delivery.ts';
import { findAccountWebhook, findEndpoint, insertWebhook, type WebhookRow } from './webhook-store.ts';

/** Used as a webhook id: deliveries to the `webhookUrl`s of single requests. */
export const ACCOUNT_WEBHOOK = 'account';

/** The account's shared webhook for `webhookUrl`s of single requests, with its secret; created on first use. */
export async function ensureAccountWebhook(
  ctx: Store & Pick<NodeKeys, 'secrets'>,
  sql: Sql,
  accountId: string,
): Promise<WebhookRow> {
  const known = await findAccountWebhook(sql, accountId);
  if (known) return known;
  const secretSealed = ctx.secrets.seal(newWebhookSecret());
  const common = { kind: 'account', url: null, description: '', eventTypes: null } as const;
  const made = await insertWebhook(sql, { id: newId('whk'), accountId, secretSealed, ...common }, ctx.clock.now());
  const found = made ?? (await findAccountWebhook(sql, accountId));
  invariant(found, 'a webhook that could not be inserted exists');
  return found;
}

/** A webhook of the account by its id, or by the word `account`. Throws NOT_FOUND. */
export async function requireWebhook(
  ctx: Store & Pick<NodeKeys, 'secrets'>,
  accountId: string,
  webhookId: string,
): Promise<WebhookRow> {
  if (webhookId === ACCOUNT_WEBHOOK) return ensureAccountWebhook(ctx, ctx.db, accountId);
  return requireEndpoint(ctx.db, accountId, webhookId);
}

/** An endpoint of the account. Throws NOT_FOUND. */
export async function requireEndpoint(sql: Sql, accountId: string, webhookId: string): Promise<WebhookRow> {
  const found = await findEndpoint(sql, accountId, webhookId);
  if (!found) throw notFound('webhook');
  return found;
}
