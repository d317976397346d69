import type { EventEnvelope, EventType } from '@agent-network/contracts/events';

/** Body of a test delivery. */
interface TestEvent {
  readonly type: 'webhook.test';
  readonly timestamp: string;
  readonly data: { readonly webhookId: string };
}

/** One event of the catalogue, or a test; `type` determines the type of `data`. */
export type WebhookEvent = ({ [T in EventType]: EventEnvelope<T> }[EventType] | TestEvent) & {
  /** Equal on every attempt and replay: drop ids that you have processed. */
  readonly id: string;
  /** Grows with time within your account; null on a test and when the node sent none. */
  readonly sequence: number | null;
};

export type WebhookRefusal =
  | 'missing_headers'
  | 'malformed_secret'
  | 'outside_tolerance'
  | 'wrong_signature'
  | 'malformed_body';

/** The message did not come from the node, is too old, or was changed: answer 400 and do nothing. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  readonly reason: WebhookRefusal;

  constructor(reason: WebhookRefusal, message: string) {
    super(message);
    this.reason = reason;
  }
}

export interface WebhookMessage {
  /** `whsec_…`, from creating or rotating the webhook. */
  readonly secret: string;
  /** The received headers: a `Headers`, or the `headers` of a Node request. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body exactly as it came, before any JSON parser. */
  readonly body: string | Uint8Array;
  /** Maximum distance of the message's timestamp from now, in either direction; default 300. */
  readonly toleranceS?: number;
  readonly now?: Date;
}

const refuse = (reason: WebhookRefusal, message: string) => new WebhookVerificationError(reason, message);

function headerOf(headers: WebhookMessage['headers'], name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? '';
  const value = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return typeof value === 'string' ? value : (value?.join(' ') ?? '');
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

async function isSigned(secret: string, content: Uint8Array<ArrayBuffer>, signatures: string): Promise<boolean> {
  const keyBytes = bytesOf(secret.replace(/^whsec_/, ''));
  if (!keyBytes?.length) throw refuse('malformed_secret', 'The secret is not whsec_ and base64');
  const key = await crypto.subtle.importKey('raw', keyBytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
  for (const part of signatures.split(' ')) {
    const signature = part.startsWith('v1,') ? bytesOf(part.slice(3)) : null;
    // WebCrypto compares in constant time.
    if (signature && (await crypto.subtle.verify('HMAC', key, signature, content))) return true;
  }
  return false;
}

function parseEvent(body: Uint8Array): Pick<WebhookEvent, 'type' | 'timestamp' | 'data'> {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    if (typeof (value as { type?: unknown } | null)?.type === 'string') return value as WebhookEvent;
  } catch {
    // Answered below: signed, but nothing that an event could be read from.
  }
  throw refuse('malformed_body', 'The body is not an event');
}

/**
 * Proves that a delivery was sent by the node that holds the secret, within five minutes of now, and returns its event
 * (Standard Webhooks 1.0, symmetric). While a secret is rotated either one verifies. Throws `WebhookVerificationError`.
 */
export async function verifyWebhook(message: WebhookMessage): Promise<WebhookEvent> {
  const { secret, headers, toleranceS = 300, now = new Date() } = message;
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signature = headerOf(headers, 'webhook-signature');
  if (!id || !signature || !/^\d{1,12}$/.test(timestamp))
    throw refuse('missing_headers', 'webhook-id, webhook-timestamp or webhook-signature is missing or malformed');
  if (Math.abs(now.getTime() / 1000 - Number(timestamp)) > toleranceS)
    throw refuse('outside_tolerance', `The message was sent more than ${toleranceS} s before or after now`);
  const body = typeof message.body === 'string' ? new TextEncoder().encode(message.body) : message.body;
  const prefix = new TextEncoder().encode(`${id}.${timestamp}.`);
  const content = new Uint8Array(prefix.length + body.length);
  content.set(prefix);
  content.set(body, prefix.length);
  if (!(await isSigned(secret, content, signature))) throw refuse('wrong_signature', 'No signature fits the secret');
  const sequence = headerOf(headers, 'webhook-sequence');
  return { ...parseEvent(body), id, sequence: sequence === '' ? null : Number(sequence) } as WebhookEvent;
}
