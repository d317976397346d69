import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';

/**
 * Signature headers of a call to an agent, by which it recognises this node: a Standard Webhooks signature whose secret is the
 * identityToken's 32 bytes. `id` is the message id; repetitions keep it.
 */
export function signAgentCall(identityToken: string, id: string, body: string, now: Date): Record<string, string> {
  const timestamp = Math.floor(now.getTime() / 1000).toString();
  // A prepared key: passing plain bytes costs five times as much.
  const secret = createSecretKey(identityToken.slice(2), 'hex');
  const signature = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}

/** The answer that an agent must give to a challenge; it proves that the process behind the endpoint holds the identityToken. */
export function challengeResponse(
  identityToken: string,
  { challenge, agentId, endpoint }: { challenge: string; agentId: string; endpoint: string },
): string {
  return createHmac('sha256', identityToken).update(`${challenge}\n${agentId}\n${endpoint}`).digest('hex');
}

/** `shown` is the agent's answer, of any type. */
export function isChallengeMet(expected: string, shown: unknown): boolean {
  if (typeof shown !== 'string' || !/^[0-9a-f]{64}$/i.test(shown)) return false;
  return timingSafeEqual(Buffer.from(shown, 'hex'), Buffer.from(expected, 'hex'));
}
