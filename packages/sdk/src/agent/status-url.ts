import { createHmac, timingSafeEqual } from 'node:crypto';

const proofOf = (identityToken: string, requestId: string): string =>
  createHmac('sha256', identityToken).update(`status\n${requestId}`).digest('hex');

/**
 * Returns the status URL of an accepted call: a reference relative to the endpoint, which keeps the query of the call. It carries a proof
 * that only the agent can make, because anyone with the URL may read the result or cancel the work.
 */
export function statusUrl(identityToken: string, requestId: string, calledUrl: string): string {
  const query = new URLSearchParams(calledUrl.split('?')[1]);
  query.set('request_id', requestId);
  query.set('proof', proofOf(identityToken, requestId));
  return `?${query}`;
}

/** Returns the request that a status URL names: `undefined` when the URL is not a status URL, `null` when its proof is wrong. */
export function requestOfStatusUrl(identityToken: string, url: string): string | null | undefined {
  const query = new URLSearchParams(url.split('?')[1]);
  const requestId = query.get('request_id');
  const proof = query.get('proof');
  if (requestId === null || proof === null) return undefined;
  const expected = Buffer.from(proofOf(identityToken, requestId));
  const given = Buffer.from(proof);
  return given.length === expected.length && timingSafeEqual(given, expected) ? requestId : null;
}
