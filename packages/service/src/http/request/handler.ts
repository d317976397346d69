import type { Api, EndpointName } from '@agent-network/contracts/api';
import type { DataOf, Endpoint, Parsed } from '@agent-network/contracts/endpoint';
import type { AgentCaller, Caller, KnownCaller } from '../../accounts/caller.ts';
import type { Once } from '../../accounts/idempotency/once.ts';
import type { PreparedJson } from '../../lib/json/prepared-json.ts';
import type { FileAnswer } from '../answer/file-answer.ts';
import type { SseAnswer } from '../answer/sse.ts';
import type { Client } from './client.ts';
import type { HttpContext } from './http-context.ts';
import type { Upload } from './upload.ts';

type CallerOf<E extends Endpoint> = E extends { readonly auth: 'none' } | { readonly keyless: 'reads' | 'answers' }
  ? Caller
  : E['auth'] extends 'agent'
    ? AgentCaller
    : KnownCaller;

/** A request after authentication, limits and validation. */
export interface HandlerCall<E extends Endpoint> extends Parsed<E> {
  readonly caller: CallerOf<E>;
  /** Sets a header of this answer, and of the answers to repetitions with the same Idempotency-Key. */
  setHeader(name: string, value: string): void;
  readonly client: Client;
  /** Makes the answer a 201: the call created something. */
  setCreated(): void;
  /** The bytes that come with the call, in place of JSON. */
  readonly upload: Upload;
  /** Aborted when the client disconnects before its answer. */
  readonly hungUp: AbortSignal;
  readonly once: Once;
  /** The Idempotency-Key of a caller without an API key. Its answers are not stored; null: it sent none, or has an API key. */
  readonly keylessKey: string | null;
  /** Counts a call that a wallet pays for without an API key, and the account that is opened for it. Throws RATE_LIMITED. */
  countPayer(wallet: string, opensAccount: boolean): Promise<void>;
  /** Counts further invocations that the call makes. Throws RATE_LIMITED. */
  countMore(count: number): Promise<void>;
  /** Marks this call as an invocation: it counts as one, whatever its answer, unless its payment fails. */
  recordInvoked(): void;
  /** Removes this call from the count of invocations: it turned out to be none (a replay). */
  uncount(): Promise<void>;
  /** Keeps the call counted, whatever its outcome. */
  keepCount(): void;
}

/** A stream, for endpoints that have one. */
type StreamOf<E extends Endpoint> = E['stream'] extends string ? SseAnswer : never;

/** The data, or parts of it as JSON that is at hand; the content of a file. */
type AnswerOf<E extends Endpoint> = E extends { readonly bytes: 'answered' }
  ? FileAnswer
  : DataOf<E> | Prepared<DataOf<E>> | StreamOf<E>;
type Prepared<T> = { readonly [K in keyof T]: T[K] | PreparedJson };

export type Handler<E extends Endpoint> = (
  ctx: HttpContext,
  call: HandlerCall<E>,
) => Promise<AnswerOf<E>> | AnswerOf<E>;

/** One handler per row of the endpoint table. */
export type Handlers<Names extends EndpointName = EndpointName> = { readonly [N in Names]: Handler<Api[N]> };
