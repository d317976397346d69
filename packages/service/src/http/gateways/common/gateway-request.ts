import type { Gateway } from '@agent-network/contracts/endpoint';
import type { Context } from 'hono';
import type { Caller } from '../../../accounts/caller.ts';
import { KEYLESS_AUTHORIZATION } from '../../../accounts/keyless-caller.ts';
import { AppError } from '../../../lib/app-error.ts';
import type { AnswerRoom, Readers } from '../../answer/answer-room.ts';
import { readersOf, requestIdOf } from '../../api/mount.ts';
import { countCall } from '../../request/count-call.ts';
import { requireRoom } from '../../request/handle-call.ts';
import type { HttpContext } from '../../request/http-context.ts';
import { readAs } from '../../request/identify.ts';
import { addressOf } from '../../request/remote-address.ts';

/** One HTTP request to a gateway. */
export interface GatewayRequest {
  readonly gateway: Gateway;
  readonly c: Context;
  readonly requestId: string;
  readonly caller: Caller;
  /** Headers of the answer; calls of endpoints add to them. */
  readonly headers: Record<string, string>;
  readonly room: AnswerRoom;
  readonly readers: Readers;
}

/** Headers of an answer of a gateway, before anything is known of its caller. */
export const newGatewayHeaders = (c: Context): Record<string, string> => ({ 'x-request-id': requestIdOf(c) });

/**
 * Identifies the caller of a gateway and counts the request as `api`. Endpoints that it calls count separately. Throws UNAVAILABLE,
 * UNAUTHORIZED or RATE_LIMITED, with headers of the answer in `headers`.
 */
export async function openGatewayRequest(
  ctx: HttpContext,
  { gateway, room }: { readonly gateway: Gateway; readonly room: AnswerRoom },
  c: Context,
  headers: Record<string, string>,
): Promise<GatewayRequest> {
  requireRoom(ctx, c.req.method);
  const caller = await identifyGatewayCaller(ctx, c, headers);
  await countCall(ctx, { caller, row: API, address: () => addressOf(ctx, c) }, headers);
  return {
    gateway,
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

/** Reads the body of a request to a gateway. Continue with the caller in the result. */
export async function readForGateway<T>(
  ctx: HttpContext,
  unread: GatewayRequest,
  read: () => Promise<T>,
): Promise<{ readonly opened: GatewayRequest; readonly body: T }> {
  const { c, headers } = unread;
  const { caller, body } = await readAs(unread.caller, read, () => identifyGatewayCaller(ctx, c, headers));
  return { opened: caller === unread.caller ? unread : { ...unread, caller }, body };
}

/**
 * Identifies the caller of a gateway by its key or identityToken. Without one it is anonymous. A bad one is refused, also where none is
 * needed, and counts against the network address. Session cookies do not count: a gateway is not for pages of the node.
 */
async function identifyGatewayCaller(ctx: HttpContext, c: Context, headers: Record<string, string>): Promise<Caller> {
  const authorization = c.req.header('authorization');
  const anonymous = () => ({ kind: 'anonymous', address: addressOf(ctx, c) }) as const;
  if (authorization === undefined || KEYLESS_AUTHORIZATION.test(authorization)) return anonymous();
  try {
    return await ctx.authenticator.authenticate(authorization);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'UNAUTHORIZED') throw error;
    const caller = anonymous();
    await countCall(ctx, { caller, row: API, address: () => caller.address }, headers);
    headers['www-authenticate'] = 'Bearer error="invalid_token"';
    throw error;
  }
}

/** Kind of a gateway's request before its call is known. */
export const API = { limit: 'api', method: 'POST', auth: 'none' } as const;
