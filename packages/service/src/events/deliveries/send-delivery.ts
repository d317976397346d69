import type { HasClock } from '../../lib/clock.ts';
import type { HasSecrets } from '../../lib/secrets.ts';
import { type EndpointAnswer, unanswered } from '../webhooks/attempt.ts';
import { signedHeaders } from '../webhooks/sign-delivery.ts';
import type { WebhookRow } from '../webhooks/webhook-store.ts';
import type { Sender } from './dispatcher.ts';

export interface WebhookMessage {
  readonly eventId: string;
  readonly sequence: bigint | null;
  readonly url: string;
  readonly body: string;
}

/** Text for the owner in the deliveries after the node has lost the secret. */
const secretLost = unanswered(
  "Nothing was sent: the webhook's secret was sealed with an earlier SECRET_KEY of this node. Rotate the secret.",
);

/** Signs a message with the valid secrets, sends it once, and returns the answer. Without a secret nothing is sent. */
export async function sendDelivery(
  ctx: HasClock & HasSecrets,
  webhook: WebhookRow,
  message: WebhookMessage,
  send: Sender['send'],
): Promise<EndpointAnswer> {
  const now = ctx.clock.now();
  const timestampS = Math.floor(now.getTime() / 1000);
  const secrets = secretsOf(ctx, webhook, now);
  if (secrets.length === 0) return secretLost;
  const signed = signedHeaders({ id: message.eventId, timestampS, body: message.body }, secrets);
  const headers = message.sequence === null ? signed : { ...signed, 'webhook-sequence': String(message.sequence) };
  return send({ url: message.url, headers, body: message.body });
}

/** The current secrets; one that was sealed with another secret of the node is lost. */
function secretsOf({ secrets }: HasSecrets, webhook: WebhookRow, now: Date): string[] {
  const { secretSealed, oldSecretSealed, oldValidUntil } = webhook;
  const isOverlap = oldSecretSealed !== null && oldValidUntil !== null && oldValidUntil > now;
  return (isOverlap ? [secretSealed, oldSecretSealed] : [secretSealed]).flatMap(
    (sealed) => secrets.openOrNull(sealed) ?? [],
  );
}
