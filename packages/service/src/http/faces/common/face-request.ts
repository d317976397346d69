import type { Face } from '@agent-network/contracts/endpoint';
import type { Context } from 'hono';
import type { Caller } from '../../../access/caller/caller.ts';
import type { AnswerRoom, Readers } from '../../answer/answer-room.ts';
import { readersOf, requestIdOf } from '../../mount.ts';
import { countCall } from '../../request/count-call.ts';
import { requireRoom } from '../../request/handle-call.ts';
import type { HttpContext } from '../../request/http-context.ts';
import { readAs } from '../../request/read-as.ts';
import { addressOf } from '../../request/remote-address.ts';
import { API, identifyFaceCaller } from './face-caller.ts';

/** One HTTP request to a face. */
export interface FaceRequest {
  readonly face: Face;
  readonly c: Context;
  readonly requestId: string;
  readonly caller: Caller;
  /** Headers of the answer; calls of endpoints add to them. */
  readonly headers: Record<string, string>;
  readonly room: AnswerRoom;
  readonly readers: Readers;
}

/** Headers of an answer of a face, before anything is known of its caller. */
export const newFaceHeaders = (c: Context): Record<string, string> => ({ 'x-request-id': requestIdOf(c) });

/**
 * Identifies the caller of a face and counts the request as `api`; what it calls is counted as it is called. Throws UNAVAILABLE,
 * UNAUTHORIZED or RATE_LIMITED, with headers of the answer in `headers`.
 */
export async function openFaceRequest(
  ctx: HttpContext,
  { face, room }: { readonly face: Face; readonly room: AnswerRoom },
  c: Context,
  headers: Record<string, string>,
): Promise<FaceRequest> {
  requireRoom(ctx, c.req.method);
  const caller = await identifyFaceCaller(ctx, c, headers);
  await countCall(ctx, { caller, row: API, address: () => addressOf(ctx, c) }, headers);
  return {
    face,
    c,
    requestId: headers['x-request-id'] ?? '',
    caller,
    headers,
    room,
    get readers() {
      return readersOf(ctx, c, caller);
    },
  };
}

/** Reads the body of a request to a face. Whoever goes on does so as the caller in the answer. */
export async function readForFace<T>(
  ctx: HttpContext,
  face: FaceRequest,
  read: () => Promise<T>,
): Promise<{ readonly face: FaceRequest; readonly body: T }> {
  const { c, headers } = face;
  const { caller, body } = await readAs(face.caller, read, () => identifyFaceCaller(ctx, c, headers));
  return { face: caller === face.caller ? face : { ...face, caller }, body };
}
