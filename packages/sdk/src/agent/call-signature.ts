import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';

const toleranceS = 5 * 60;

export interface SignedMessage {
  readonly id: string | undefined;
  readonly timestamp: string | undefined;
  /** One or more `v1,<base64>`, separated by spaces. */
  readonly signature: string | undefined;
  readonly body: Uint8Array;
}

function sameText(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}

/**
 * Returns the token if it is one: `0x` and 32 bytes in hexadecimal. Anything else is no secret: of '' and 'my-token' strangers know the
 * key. `from` says in the error where it was found.
 */
export function requireToken(token: string, from = 'serveAgent'): string {
  if (/^0x[0-9a-f]{64}$/i.test(token)) return token;
  throw new TypeError(`${from} has a malformed identityToken: it is 0x and 64 hexadecimal digits`);
}

/**
 * True if the node that issued `identityToken` signed this message within five minutes of `now` (Standard Webhooks 1.0, symmetric; the
 * secret is the token's 32 bytes).
 */
export function isSignedByNode(message: SignedMessage, identityToken: string, now: Date): boolean {
  const { id, timestamp, signature, body } = message;
  if (!id || !signature || !timestamp || !/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(now.getTime() / 1000 - Number(timestamp)) > toleranceS) return false;
  // A prepared key: raw bytes would make the code five times as slow.
  const secret = createSecretKey(identityToken.slice(2), 'hex');
  const expected = createHmac('sha256', secret).update(`${id}.${timestamp}.`).update(body).digest('base64');
  return signature.split(' ').some((part) => sameText(part, `v1,${expected}`));
}

/** The answer to a verification challenge. It proves that the server of `endpoint` holds the token (lower-case hex). */
export function challengeResponse(
  identityToken: string,
  challenge: { challenge: string; agentId: string; endpoint: string },
): string {
  return createHmac('sha256', identityToken)
    .update(`${challenge.challenge}\n${challenge.agentId}\n${challenge.endpoint}`)
    .digest('hex');
}
