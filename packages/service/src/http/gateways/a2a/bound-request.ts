import type { Context } from 'hono';
import { type BodyBounds, trailOf } from '../../request/body-bounds.ts';
import type { HttpContext } from '../../request/http-context.ts';
import type { A2aCall, A2aStream } from './a2a-call.ts';
import type { ShownError } from './errors.ts';
import type { agentOperations } from './operations.ts';

/** A path below `/a2a`: the agent that it names (null: the node's own), and the segments that follow. */
export interface A2aPath {
  readonly agentId: string | null;
  readonly rest: readonly string[];
}

/** An answer of a binding: a status and JSON (undefined: no body), or a stream. */
export type Bound =
  | { readonly status: number; readonly type: string; readonly body: unknown }
  | { readonly stream: A2aStream<object> };

/** A request to a binding, with the parts that the bindings share. */
export interface BoundRequest {
  readonly ctx: HttpContext;
  readonly c: Context;
  readonly target: A2aPath;
  readonly operations: typeof agentOperations;
  /** Identifies the caller and counts the request. */
  open(): Promise<Omit<A2aCall, 'version'>>;
  refuse(error: unknown): ShownError;
  send(bound: Bound, headers?: Readonly<Record<string, string>>): Response;
}

/** Fields of a part that are not looked into; those of the two versions. */
const contentOf = (parts: string) => ['text', 'data', 'raw', 'file'].map((name) => `${parts}.*.${name}`);

/** Bounds of a message. Its parts are in the parameters of JSON-RPC, or in the body itself. */
export const messageBounds: BodyBounds = {
  maxValues: 5000,
  maxChars: 256 * 1024,
  content: trailOf(...contentOf('params.message.parts'), ...contentOf('message.parts')),
};
