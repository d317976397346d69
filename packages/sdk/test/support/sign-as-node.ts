import { createHmac, randomUUID } from 'node:crypto';

/** The headers that a node sends with a body; written apart from the code under test. */
export function signAsNode(body: string, identityToken: string, at = new Date()): Record<string, string> {
  const id = `msg_${randomUUID()}`;
  const timestamp = Math.floor(at.getTime() / 1000).toString();
  const key = Uint8Array.from(identityToken.slice(2).match(/../g) ?? [], (hex) => Number.parseInt(hex, 16));
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}
