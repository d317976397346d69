import type { z } from 'zod';
import type { Scope } from './access/scopes.ts';
import type { ShownOnce } from './access/shown-once.ts';
import type { ErrorCode } from './errors.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** Protocols besides REST in which clients call a node; the operator may leave out some. */
export const gateways = ['mcp', 'a2a', 'openai', 'x402'] as const;
export type Gateway = (typeof gateways)[number];
/** @deprecated The former names, for one version. */
export { gateways as faces };
export type Face = Gateway;

/** One row of the endpoint table: the definition of a call for server, client, documents and tests. */
export interface Endpoint {
  readonly method: Method;
  /** With `{param}` segments, relative to the base address. */
  readonly path: `/${string}`;
  readonly summary: string;
  readonly tag: 'Agents' | 'Invocation' | 'Identity' | 'Files' | 'Payments' | 'Account' | 'Network';
  /** `none`: anyone; `key`: an API key or an agent's identityToken; `agent`: only the agent itself. */
  readonly auth: 'none' | 'key' | 'agent';
  /**
   * Callers without a key. `pays`: they pay with x402, and for callers with one it is a call like any other. `reads`: they read a request
   * by its `resultToken`, or signed in with the wallet that paid for it. `answers`: they act on a request by its `answerToken`.
   */
  readonly keyless?: 'pays' | 'reads' | 'answers';
  /** The gateway that this endpoint belongs to. A node without that gateway does not have the endpoint. */
  readonly gateway?: Gateway;
  /** The scope that an API key or a session needs. An identityToken has those of `agentScopes`. */
  readonly scope?: Scope;
  /** Refused to an identityToken, regardless of the scope, as it is about the whole account. */
  readonly accountOnly?: true;
  /** A session needs no scope here, but a signature of the wallet as `proof` in the body. */
  readonly sessionProof?: true;
  /** Only from the node's own pages: calls that set or clear the session cookie are refused without their `Origin`. */
  readonly sameOrigin?: true;
  /** The rate limit of the call, besides `api`, which counts every call. `signIns` is counted by network address. */
  readonly limit: 'api' | 'invocations' | 'signIns';
  /** True if the answer is equal for every caller: it has an entity tag, and caches may keep it if they revalidate. */
  readonly isPublic?: true;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly headers?: z.ZodObject;
  readonly body?: z.ZodType;
  readonly data: z.ZodType;
  /** Bytes in place of JSON. `sent`: the body is the content of a file, of any type. `answered`: the answer is. */
  readonly bytes?: 'sent' | 'answered';
  /** True if the answer is 201 when the call created something, and 200 when it was there already. */
  readonly creates?: true;
  /** The secret in `data`, which repetitions do not get. */
  readonly shownOnce?: ShownOnce;
  /** `on_request`: the answer may be a stream of server-sent events. `always`: it is one. */
  readonly stream?: 'always' | 'on_request';
  /** True if the answer comes from the registry in memory; a header has the block up to which it is read. */
  readonly fromRegistry?: true;
  /** Codes beyond those that every call can give (see `commonErrors`). */
  readonly errors: readonly ErrorCode[];
}

/** The parts of a row that a client needs to send its call. */
export interface Route extends Pick<Endpoint, 'method' | 'path' | 'auth' | 'keyless' | 'stream' | 'bytes'> {
  readonly hasBody?: true;
  /** The answer has a secret that repetitions do not get. */
  readonly hasSecret?: true;
}

/** Declares a row, keeping its literal types. */
export const endpoint = <const E extends Endpoint>(row: E): E => row;

/**
 * True for a POST that is repeated under an `Idempotency-Key`, by callers whom the node knows and by those who pay without a key. The same
 * content sent again is the same file, and needs none.
 */
export const takesIdempotencyKey = (row: Pick<Endpoint, 'method' | 'auth' | 'keyless' | 'bytes'>): boolean =>
  row.method === 'POST' && row.bytes !== 'sent' && (row.auth !== 'none' || row.keyless === 'pays');

/** Codes that any call can give, so that rows need not repeat them. */
export const commonErrors = (row: Endpoint): ErrorCode[] => [
  'VALIDATION_ERROR',
  'UNAUTHORIZED',
  ...(row.auth === 'none' && row.keyless === undefined ? [] : (['FORBIDDEN'] as const)),
  ...(row.params ? (['NOT_FOUND'] as const) : []),
  ...(takesIdempotencyKey(row) ? (['CONFLICT', 'IDEMPOTENCY_KEY_REUSED'] as const) : []),
  ...(row.body ? (['PAYLOAD_TOO_LARGE'] as const) : []),
  'RATE_LIMITED',
  'INTERNAL_ERROR',
  'UNAVAILABLE',
];

type Out<S, Missing = undefined> = S extends z.ZodType ? z.output<S> : Missing;
type In<S> = S extends z.ZodType ? z.input<S> : never;

/** Input of a handler, after validation. */
export interface Parsed<E extends Endpoint> {
  readonly params: Out<E['params']>;
  readonly query: Out<E['query']>;
  readonly headers: Out<E['headers']>;
  readonly body: Out<E['body']>;
}

/** Result of a handler: the `data` of the success envelope. */
export type DataOf<E extends Endpoint> = z.output<E['data']>;

type Part<K extends string, S> = [In<S>] extends [never]
  ? unknown
  : Record<string, never> extends In<S>
    ? { readonly [P in K]?: In<S> }
    : { readonly [P in K]: In<S> };

/** The input that a client sends. */
export type Call<E extends Endpoint> = Part<'params', E['params']> &
  Part<'query', E['query']> &
  Part<'headers', E['headers']> &
  Part<'body', E['body']>;
