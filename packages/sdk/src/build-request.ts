import type { Endpoint } from '@agent-network/contracts/endpoint';
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
  readonly body: string | undefined;
}

function definedEntries(record: Readonly<Record<string, unknown>> = {}): [string, string][] {
  return Object.entries(record).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
}

function fillPath(path: string, params: CallParts['params']): string {
  return path.replace(/\{(\w+)\}/g, (_segment, name: string) => {
    const value = params?.[name];
    if (value === undefined || value === '') throw new TypeError(`params.${name} is missing`);
    return encodeURIComponent(String(value));
  });
}

/** One call of the endpoint table as an HTTP request. Throws `TypeError` when a path parameter is missing. */
export function buildRequest(
  node: { baseUrl: string; apiKey: string | undefined },
  row: Endpoint,
  call: CallParts,
  options: CallOptions,
): HttpRequest {
  const query = new URLSearchParams(definedEntries(call.query)).toString();
  const path = fillPath(row.path, call.params);
  return {
    url: `${node.baseUrl.replace(/\/+$/, '')}${path}${query && `?${query}`}`,
    method: row.method,
    headers: {
      accept: 'application/json',
      ...(node.apiKey ? { authorization: `Bearer ${node.apiKey}` } : {}),
      ...(row.body ? { 'content-type': 'application/json' } : {}),
      ...(options.idempotencyKey ? { 'idempotency-key': options.idempotencyKey } : {}),
      ...(options.requestId ? { 'x-request-id': options.requestId } : {}),
      ...Object.fromEntries(definedEntries(call.headers)),
    },
    body: row.body ? JSON.stringify(call.body ?? {}) : undefined,
  };
}
