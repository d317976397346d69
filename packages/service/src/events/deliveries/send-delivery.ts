import type { HasClock } from '../../lib/clock.ts';
import type { HasGuardedFetch } from '../../lib/net/guarded-fetch.ts';
import type { HasSecrets } from '../../lib/secrets.ts';
import type { EndpointAnswer } from '../webhooks/attempt.ts';
import { signedHeaders } from '../webhooks/sign-delivery.ts';
import { postWebhook } from '../webhooks/webhook-client.ts';
import type { WebhookRow } from '../webhooks/webhook-store.ts';

export interface Message {
  readonly eventId: string;
  readonly sequence: bigint | null;
  readonly url: string;
  readonly body: string;
}

/** Signs a message with the valid secrets, sends it once, and returns the answer. */
export async function sendDelivery(
  ctx: HasClock & HasSecrets & HasGuardedFetch,
  webhook: WebhookRow,
  message: Message,
  signal: AbortSignal,
): Promise<EndpointAnswer> {
  const now = ctx.clock.now();
  const timestampS = Math.floor(now.getTime() / 1000);
  const signed = signedHeaders({ id: message.eventId, timestampS, body: message.body }, secretsOf(ctx, webhook, now));
  const headers = message.sequence === null ? signed : { ...signed, 'webhook-sequence': String(message.sequence) };
  return postWebhook(ctx, { url: message.url, headers, body: message.body, signal });
}

function secretsOf({ secrets }: HasSecrets, webhook: WebhookRow, now: Date): string[] {
  const { secretSealed, oldSecretSealed, oldValidUntil } = webhook;
  const isOverlap = oldSecretSealed !== null && oldValidUntil !== null && oldValidUntil > now;
  return (isOverlap ? [secretSealed, oldSecretSealed] : [secretSealed]).map((sealed) => secrets.open(sealed));
}
