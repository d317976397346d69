import type { NodeIdentity } from '../../../chain/chain-info.ts';
import { type FilesOf, shownFilesOf } from '../common/gateway-files.ts';
import type { GatewayRequest } from '../common/gateway-request.ts';
import { X402_EXTENSIONS } from './payments.ts';
import type { Version } from './versions.ts';

/** A request to the gateway of an agent. */
export interface A2aCall {
  readonly opened: GatewayRequest;
  readonly agentId: string;
  readonly version: Version;
  /** The URIs of the extensions that the client activates. */
  readonly extensions: readonly string[];
  /** The token that answers a task of a caller without a key; undefined: none came. */
  readonly answerToken?: string | undefined;
}

/** Field of the metadata of tasks and messages with the token that answers a task of a caller without a key. */
export const ANSWER_TOKEN = 'urn:agent-network:answer-token';

/** A call with the token in its metadata, if there is one. */
export function withAnswerToken(call: A2aCall, metadata: Readonly<Record<string, unknown>> = {}): A2aCall {
  const given = metadata[ANSWER_TOKEN];
  return typeof given === 'string' ? { ...call, answerToken: given } : call;
}

/** A stream of a task, until the task ends or waits for its payment. */
export interface A2aStream<T> {
  /** The request that is streamed; null: nothing is running. */
  readonly requestId: string | null;
  open(signal: AbortSignal): AsyncIterable<T>;
  /** Called with the bytes of each event, when the stream only reads. */
  readonly sent?: ((bytes: number) => void) | undefined;
}

const takesV1 = ({ extensions }: A2aCall) =>
  !extensions.includes(X402_EXTENSIONS[0]) && extensions.includes(X402_EXTENSIONS[1]);

/** The form in which a client wants a task. */
export interface Shape {
  /** True when the client asked for the terms of x402 version 1. */
  readonly takesV1: boolean;
  /** The network of payments, by its name in this version of x402. */
  readonly network: string;
  readonly historyLength?: number | undefined;
  readonly filesOf: FilesOf;
}

export type FilesContext = Parameters<typeof shownFilesOf>[0];

/** Files of results as parts name them. */
export const filesOf =
  (ctx: FilesContext): FilesOf =>
  (record) =>
    shownFilesOf(ctx, record);

export function shapeOf(
  ctx: NodeIdentity & FilesContext,
  call: A2aCall,
  { historyLength }: { readonly historyLength?: number | null | undefined },
): Shape {
  const isV1 = takesV1(call);
  const network = isV1 ? ctx.chain.name : ctx.chain.caip2;
  return { takesV1: isV1, network, historyLength: historyLength ?? undefined, filesOf: filesOf(ctx) };
}
