import { createHmac, timingSafeEqual } from 'node:crypto';

const proofOf = (identityToken: string, requestId: string): string =>
  createHmac('sha256', identityToken).update(`status\n${requestId}`).digest('hex');

/**
 * Where a node asks about a call that was accepted: a reference relative to the endpoint, which keeps the query of the call. It
 * holds a proof that only the agent can make, as whoever has the URL may read the result or cancel the work.
 */
export function statusUrl(identityToken: string, requestId: string, calledUrl: string): string {
  const query = new URLSearchParams(calledUrl.split('?')[1]);
  query.set('request_id', requestId);
  query.set('proof', proofOf(identityToken, requestId));
  return `?${query}`;
}

/** Which request a status URL is about: `undefined` when the URL is none, `null` when its proof is wrong. */
export function requestOfStatusUrl(identityToken: string, url: string): string | null | undefined {
  const query = new URLSearchParams(url.split('?')[1]);
  const requestId = query.get('request_id');
  const proof = query.get('proof');
  if (requestId === null || proof === null) return undefined;
  const expected = Buffer.from(proofOf(identityToken, requestId));
  const given = Buffer.from(proof);
  return given.length === expected.length && timingSafeEqual(given, expected) ? requestId : null;
}
