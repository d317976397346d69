import { type Route, takesIdempotencyKey } from '@agent-network/contracts/endpoint';
import type { CallOptions } from './client-types.ts';

export interface CallParts {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

export interface HttpRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer> | undefined;
  /** True if the answer is the content of a file. */
  readonly isForBytes?: boolean;
}

function definedEntries(record: Readonly<Record<string, unknown>> = {}): [string, string][] {
  return Object.entries(record).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
}

/** Names of headers are the same in any case: two spellings of one would be sent as one header with both values. */
const lowerCased = (headers: CallParts['headers']): Record<string, string> =>
  Object.fromEntries(definedEntries(headers).map(([name, value]) => [name.toLowerCase(), value]));

function fillPath(path: string, params: CallParts['params']): string {
  return path.replace(/\{(\w+)\}/g, (_segment, name: string) => {
    const value = params?.[name];
    if (value === undefined || value === '') throw new TypeError(`params.${name} is missing`);
    return encodeURIComponent(String(value));
  });
}

function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** A POST that changes nothing needs no key, and can be repeated without. */
const idempotencyKey = (row: Route, options: CallOptions): string | undefined =>
  options.idempotencyKey ?? (takesIdempotencyKey(row) ? newKey() : undefined);

/** Only a page has an address that others are relative to. */
function baseOf(baseUrl: string): string {
  if (!/^https?:\/\//i.test(baseUrl) && !('location' in globalThis))
    throw new TypeError(`baseUrl must be the address of a node, such as http://127.0.0.1:4020; it is "${baseUrl}"`);
  return baseUrl.replace(/\/+$/, '');
}

/** Throws for a header that `fetch` would refuse: that error looks like a node that cannot be reached. The value may be a key. */
function requireSendable(headers: HttpRequest['headers']): void {
  for (const header of Object.entries(headers)) {
    try {
      new Headers([header]);
    } catch {
      throw new TypeError(`the header ${header[0]} has characters that cannot be sent`);
    }
  }
}

function contentOf(body: unknown): Uint8Array<ArrayBuffer> {
  if (body instanceof Uint8Array) return body as Uint8Array<ArrayBuffer>;
  throw new TypeError('body must be a Uint8Array: the content of the file');
}

/**
 * One call of the endpoint table as an HTTP request; a POST gets an Idempotency-Key of its own, so that sending the same request
 * again does nothing twice. Throws `TypeError` when a path parameter is missing, a header cannot be sent, or there is no address to send to.
 */
export function buildRequest(
  node: { readonly baseUrl: string; readonly apiKey?: string | undefined },
  row: Route,
  call: CallParts,
  options: CallOptions,
): HttpRequest {
  const query = new URLSearchParams(definedEntries(call.query)).toString();
  const path = fillPath(row.path, call.params);
  const key = idempotencyKey(row, options);
  const headers = {
    accept: row.stream === 'always' ? 'text/event-stream' : row.bytes === 'answered' ? '*/*' : 'application/json',
    ...(node.apiKey ? { authorization: `Bearer ${node.apiKey}` } : {}),
    ...(row.hasBody ? { 'content-type': 'application/json' } : {}),
    ...(key ? { 'idempotency-key': key } : {}),
    ...(options.requestId ? { 'x-request-id': options.requestId } : {}),
    ...lowerCased(call.headers),
  };
  requireSendable(headers);
  return {
    url: `${baseOf(node.baseUrl)}${path}${query && `?${query}`}`,
    method: row.method,
    headers,
    body: row.bytes === 'sent' ? contentOf(call.body) : row.hasBody ? JSON.stringify(call.body ?? {}) : undefined,
    ...(row.bytes === 'answered' ? { isForBytes: true } : {}),
  };
}
