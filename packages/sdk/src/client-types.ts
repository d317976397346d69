import type { Api, EndpointName } from '@agent-network/contracts/api';
import type { Call, DataOf, Endpoint, Parsed } from '@agent-network/contracts/endpoint';

/** Query numbers travel as text; a caller may write them as numbers. */
type NumbersAllowed<Sent, Read> = {
  [K in keyof Sent]: K extends keyof Read ? (number extends Read[K] ? Sent[K] | number : Sent[K]) : Sent[K];
};

/** What a method of the client takes first: `params`, `query`, `headers` and `body`, as its row of the endpoint table has them. */
export type CallOf<E extends Endpoint> = {
  [P in keyof Call<E>]: P extends 'query' ? NumbersAllowed<Call<E>[P], Parsed<E>['query']> : Call<E>[P];
};

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Of one attempt; default: that of the client. */
  readonly timeoutMs?: number;
  /** Makes a repeated POST safe: within 24 hours the same key gives the same answer. */
  readonly idempotencyKey?: string;
  readonly requestId?: string;
}

type ClientMethod<E extends Endpoint> =
  Record<never, never> extends CallOf<E>
    ? (call?: CallOf<E>, options?: CallOptions) => Promise<DataOf<E>>
    : (call: CallOf<E>, options?: CallOptions) => Promise<DataOf<E>>;

/** One method per row of the endpoint table; each resolves to the `data` of the answer. */
export type Client = { readonly [Name in EndpointName]: ClientMethod<Api[Name]> };
