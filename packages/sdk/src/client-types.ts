import type { Api } from '@agent-network/contracts/api';
import type { Call, DataOf, Endpoint, Parsed } from '@agent-network/contracts/endpoint';
import type { EventType } from '@agent-network/contracts/events';
import type { StreamEvent } from '@agent-network/contracts/invocations/stream-events';
import type { StoredEvent } from '@agent-network/contracts/webhooks';
import type { DocumentedCalls } from '@agent-network/contracts/wire.generated';

/** Query numbers travel as text; a caller may write them as numbers. */
type NumbersAllowed<Sent, Read> = {
  [K in keyof Sent]: K extends keyof Read ? (number extends Read[K] ? Sent[K] | number : Sent[K]) : Sent[K];
};

/** First argument of a client method: `params`, `query`, `headers` and `body`, as its row of the endpoint table has them. */
export type CallOf<E extends Endpoint> = {
  [P in keyof Call<E>]: P extends 'query' ? NumbersAllowed<Call<E>[P], Parsed<E>['query']> : Call<E>[P];
};

export interface CallOptions {
  /**
   * Aborts the call. One with an Idempotency-Key, or a payment, may still run: it ends with `NoAnswerError`, which has both and, as
   * `cause`, the signal's reason. Others end with the reason, as does `invokeStreaming` after its first event, which has the `requestId` to
   * find the request by.
   */
  readonly signal?: AbortSignal;
  /** Timeout of one attempt; default: the client's. */
  readonly timeoutMs?: number;
  /** Makes a call that is made again later the same call: within 24 hours the same key gives the same answer. Default: a new one. */
  readonly idempotencyKey?: string;
  readonly requestId?: string;
}

export interface StreamOptions extends CallOptions {
  /** The id of the last event that you have; default: none. */
  readonly after?: number;
}

export interface FollowEventsOptions extends StreamOptions {
  /** Only events of this type. */
  readonly type?: EventType;
  /** Called whenever a connection is open, with the id that its events come after. */
  readonly onOpen?: (after: number) => void;
}

type InvokeCall = CallOf<Api['invokeAgent']>;

export interface InvokeStreamingOptions extends CallOptions {
  readonly headers?: Omit<NonNullable<InvokeCall['headers']>, 'accept'>;
  /** A quote of this agent, to call it at the quoted price. */
  readonly quote?: string;
}

type Answered<E extends Endpoint> = E['stream'] extends 'always' ? AsyncGenerator<StreamEvent> : Promise<DataOf<E>>;

type ClientMethod<E extends Endpoint> =
  Record<never, never> extends CallOf<E>
    ? (call?: CallOf<E>, options?: CallOptions) => Answered<E>
    : (call: CallOf<E>, options?: CallOptions) => Answered<E>;

/** One method per row of the endpoint table; each resolves to the `data` of the answer. Three more methods stream. */
export type Client = { readonly [Name in keyof DocumentedCalls]: ClientMethod<Api[Name]> } & {
  /**
   * The events of your request, each once and in order, until its last. Reconnects automatically, and throws `NoAnswerError` when that
   * fails. Leaving the loop does not cancel the request.
   */
  stream(requestId: string, options?: StreamOptions): AsyncGenerator<StreamEvent>;
  /**
   * The events of the account as they happen, each once and in order: after `after`, else from now on. Reconnects automatically. Ends with
   * the signal, with `ApiError` once the key is no longer valid, or with `NoAnswerError` when the node stays away (at once for a client
   * without retries).
   */
  followEvents(options?: FollowEventsOptions): AsyncGenerator<StoredEvent>;
  /** Invokes an agent and yields the events of the request as `stream` does; pays a 402 as every method does. */
  invokeStreaming(
    agentId: string,
    body: Omit<InvokeCall['body'], 'stream'>,
    options?: InvokeStreamingOptions,
  ): AsyncGenerator<StreamEvent>;
};
