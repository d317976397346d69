import type { Context } from 'hono';
import type { Caller } from '../../../access/caller/caller.ts';
import { KEYLESS_AUTHORIZATION } from '../../../access/caller/keyless-caller.ts';
import { AppError } from '../../../lib/app-error.ts';
import { countCall } from '../../request/count-call.ts';
import type { HttpContext } from '../../request/http-context.ts';
import { addressOf } from '../../request/remote-address.ts';

/**
 * Identifies the caller of a face by its key or identityToken. Without one it is anonymous. A bad one is refused, also where none is
 * needed, and counts against the network address. Session cookies do not count: a face is not for pages of the node.
 */
export async function identifyFaceCaller(
  ctx: HttpContext,
  c: Context,
  headers: Record<string, string>,
): Promise<Caller> {
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

/** Kind of a face's request before its call is known. */
export const API = { limit: 'api', method: 'POST', auth: 'none' } as const;
