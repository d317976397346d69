import { isDeeperThan, MAX_LEVELS } from '../../lib/json/json-limits.ts';
import { isObject, type Json } from '../../lib/json/json-object.ts';
import type { PaymentProof } from '../../payments/x402/payment-proof.ts';
import type { Billed } from './adapter.ts';

/** Terms of x402 within a message, as a demand for payment; null: there are none. */
export function billOf(terms: unknown): Billed | null {
  if (!isObject(terms) || !Array.isArray(terms.accepts) || isDeeperThan(terms, MAX_LEVELS.message)) return null;
  const text = Buffer.from(JSON.stringify(terms));
  const headers = terms.x402Version === 1 ? {} : { 'payment-required': text.toString('base64') };
  return { kind: 'billed', headers, body: text };
}

/** A payment as messages carry it. */
export const payloadOf = ({ headerValue }: PaymentProof): Json =>
  JSON.parse(Buffer.from(headerValue, 'base64').toString('utf8'));
