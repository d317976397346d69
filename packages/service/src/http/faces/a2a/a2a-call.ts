import type { FaceRequest } from '../common/face-request.ts';
import { X402_EXTENSIONS } from './payments.ts';
import type { Version } from './protocol/versions.ts';

/** A request to the face of an agent. */
export interface A2aCall {
  readonly face: FaceRequest;
  readonly agentId: string;
  readonly version: Version;
  /** The URIs of the extensions that the client activates. */
  readonly extensions: readonly string[];
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
export const shapeOf = (
  call: A2aCall,
  params: { readonly configuration?: { readonly historyLength?: number | undefined } | null | undefined },
) => ({ takesV1: takesV1(call), historyLength: params.configuration?.historyLength });
