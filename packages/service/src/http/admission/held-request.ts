import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Authenticator } from '../../accounts/keys/authenticate.ts';
import { createBoundedCache } from '../../lib/bounded-cache.ts';
import type { QueueTicket } from '../../lib/concurrency/fair-queue.ts';
import type { Store } from '../../store/database.ts';
import { clientAddress, type ProxySettings } from '../request/remote-address.ts';
import { askedBy, MAX_BYTES, type RequestKind, ranks } from './request-kind.ts';

/** A request that was not started when it came. */
export interface Held {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly sinceMs: number;
  readonly kind: RequestKind;
}

export interface Waiting extends Held {
  readonly ticket: QueueTicket;
  readonly deadlineMs: number | null;
  readonly isRepeated: boolean;
}

export interface CallerNames extends ProxySettings, Store {
  readonly authenticator: Authenticator;
}

/** Finds the tenant and the priority of a request in the queue. */
export function withTicket(ctx: CallerNames, before: StartedBefore, held: Held): Waiting {
  const { incoming } = held;
  const { authorization, 'x-forwarded-for': forwarded } = incoming.headers;
  const asked = held.kind === 'invocation' ? askedBy(wholeBodyOf(incoming)) : null;
  const isRepeated = before.has(incoming);
  const account = authorization === undefined ? null : ctx.authenticator.recentAccountOf(authorization);
  const address = () => clientAddress(incoming.socket.remoteAddress ?? '', forwarded?.toString(), ctx.trustedProxies);
  return {
    ...held,
    // An invalid credential makes no tenant of its own.
    ticket: {
      tenant: account ?? address(),
      priority: isRepeated || !asked ? 0 : ranks.indexOf(asked.priority),
      cost: costOf(incoming),
    },
    // One that had passed before is refused by the handler: to try again later would not help.
    deadlineMs: asked?.deadlineMs && asked.deadlineMs > ctx.clock.now().getTime() ? asked.deadlineMs : null,
    isRepeated,
  };
}

const BYTES_PER_ROUND = 64 * 1024;
const MAX_COST = 16;

/** Rounds that a request uses up in the queue, by the size of the body that is read and validated. */
function costOf({ headers }: IncomingMessage): number {
  if (headers['transfer-encoding'] !== undefined) return MAX_COST;
  return Math.min(MAX_COST, 1 + Math.floor(Number(headers['content-length'] ?? 0) / BYTES_PER_ROUND));
}

/** The body, if all of it has arrived and it is small. It is then taken from the stream: the adapter reads `rawBody` instead. */
function wholeBodyOf(incoming: IncomingMessage & { rawBody?: Buffer }): Buffer | null {
  const length = Number(incoming.headers['content-length'] ?? 0);
  if (length === 0 || length > MAX_BYTES || incoming.readableLength !== length) return null;
  const body: Buffer | null = incoming.read();
  if (body) incoming.rawBody = body;
  return body;
}

const MAX_KNOWN = 50_000;
const KNOWN_MS = 15 * 60_000;

/**
 * Recent requests of this process with an Idempotency-Key or a payment, by a digest of both. A repetition asks for the result of work that
 * may have been paid, so admission prefers it. An evicted entry only loses that preference.
 */
export interface StartedBefore {
  record(incoming: IncomingMessage): void;
  has(incoming: IncomingMessage): boolean;
}

export function createStartedBefore(): StartedBefore {
  const known = createBoundedCache<true>(MAX_KNOWN, KNOWN_MS);
  return {
    record(incoming) {
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
