import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';

/**
 * Headers that let an agent tell our call from a stranger's: a Standard Webhooks signature whose secret is the identityToken's
 * 32 bytes. `id` is the id of the message, and the same in a repetition of it.
 */
export function signAgentCall(identityToken: string, id: string, body: string, now: Date): Record<string, string> {
  const timestamp = Math.floor(now.getTime() / 1000).toString();
  // A prepared key: from plain bytes the code would cost five times as much.
  const secret = createSecretKey(identityToken.slice(2), 'hex');
  const signature = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}

/** What an agent must answer to a challenge: it shows that the process behind the endpoint holds the identityToken. */
export function challengeResponse(
  identityToken: string,
  { challenge, agentId, endpoint }: { challenge: string; agentId: string; endpoint: string },
): string {
  return createHmac('sha256', identityToken).update(`${challenge}\n${agentId}\n${endpoint}`).digest('hex');
}

/** `shown` is whatever the agent answered with. */
export function isChallengeMet(expected: string, shown: unknown): boolean {
  if (typeof shown !== 'string' || !/^[0-9a-f]{64}$/i.test(shown)) return false;
  return timingSafeEqual(Buffer.from(shown, 'hex'), Buffer.from(expected, 'hex'));
}
