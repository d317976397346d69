import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createBoundedCache } from '../../lib/bounded-cache.ts';

const MAX_KNOWN = 50_000;
const KNOWN_MS = 15 * 60_000;

/**
 * Requests with an Idempotency-Key or a payment that this process started of late, by a digest of both. A repetition asks for the answer
 * of work that may have been paid. What is forgotten is only refused in overload as any other request is: nothing is done.
 */
export interface StartedBefore {
  note(incoming: IncomingMessage): void;
  has(incoming: IncomingMessage): boolean;
}

export function createStartedBefore(): StartedBefore {
  const known = createBoundedCache<true>(MAX_KNOWN, KNOWN_MS);
  return {
    note(incoming) {
      const mark = markOf(incoming);
      if (mark !== null) known.set(mark, true);
    },
    has(incoming) {
      const mark = markOf(incoming);
      return mark !== null && known.has(mark);
    },
  };
}

function markOf({ headers, url }: IncomingMessage): string | null {
  const key = headers['idempotency-key'];
  const payment = headers['payment-signature'] ?? headers['x-payment'];
  if (key === undefined && payment === undefined) return null;
  return hash('sha256', JSON.stringify([url, headers.authorization, key, payment]), 'base64');
}
