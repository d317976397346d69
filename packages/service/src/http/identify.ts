import type { Endpoint } from '@agent-network/contracts/endpoint';
import type { Context } from 'hono';
import { type Caller, type KnownCaller, requireScope } from '../access/caller.ts';
import { AppError } from '../lib/app-error.ts';
import { countCall } from './count-call.ts';
import type { HttpContext } from './http-context.ts';
import { addressOf } from './remote-address.ts';

/** A bad key is refused everywhere, also where none is needed; guessing counts against the guesser's address. */
export async function identify(
  ctx: HttpContext,
  row: Endpoint,
  c: Context,
  headers: Record<string, string>,
): Promise<Caller> {
  const anonymous = { kind: 'anonymous', address: addressOf(ctx, c) } as const;
  const authorization = c.req.header('authorization');
  try {
    if (authorization === undefined) {
      if (row.auth === 'none') return anonymous;
      throw new AppError('UNAUTHORIZED', 'Send "Authorization: Bearer <API key>".');
    }
    return await ctx.authenticator.authenticate(authorization);
  } catch (error) {
    if (error instanceof AppError && error.code === 'UNAUTHORIZED')
      await countCall(ctx, anonymous, { limit: 'api' }, headers);
    throw error;
  }
}

export function requireAllowed(row: Endpoint, caller: Caller): void {
  if (row.auth === 'agent' && caller.kind !== 'agent')
    throw new AppError('FORBIDDEN', 'This is for the agent itself: send its identityToken instead of an API key.');
  if (row.scope) requireScope(caller as KnownCaller, row.scope);
}
