import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import type { AccountCaller } from '../../access/caller/caller.ts';
import { type Once, unkeyed } from '../../access/idempotency/once.ts';
import { AppError } from '../../lib/app-error.ts';
import { DAY_MS } from '../../lib/duration.ts';
import { requireWebhook } from './account-webhook.ts';
import type { WebhookContext } from './manage-webhooks.ts';
import { newWebhookSecret } from './sign-delivery.ts';
import { rotateSecretRow } from './webhook-store.ts';

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
