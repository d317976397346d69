import { hash } from 'node:crypto';
import { nodeScopes } from '@agent-network/contracts/access/scopes';
import { type ErrorCode, errorCatalogue } from '@agent-network/contracts/errors';
import type { Context } from 'hono';
import { AppError } from '../../lib/app-error.ts';
import { createBoundedCache } from '../../lib/bounded-cache.ts';
import { DAY_MS } from '../../lib/duration.ts';
import { isLocalClient } from '../request/client.ts';
import type { HttpContext } from '../request/http-context.ts';

/** Keys that are remembered: a node has few readers of its metrics. */
const MAX_READERS = 100;
/** Time for which a key is good that cannot be checked any more. */
const MAX_UNCHECKED_MS = DAY_MS;

/**
 * Returns who may read the metrics: the node's own machine, not through a proxy, or a key with the scope `metrics:read` or `operator`.
 * While no key can be checked, as the database is away, one that was good at its last check here, a day ago at most, is good: alerts on
 * the database need it.
 */
export function createMetricsReaders(ctx: HttpContext): (c: Context) => Promise<boolean> {
  const checked = createBoundedCache<Date>(MAX_READERS);
  const wasGood = (digest: string) =>
    ctx.clock.now().getTime() - (checked.get(digest)?.getTime() ?? 0) < MAX_UNCHECKED_MS;
  return async (c) => {
    const authorization = c.req.header('authorization');
    if (authorization === undefined) return isLocalClient(ctx, c);
    const digest = hash('sha256', authorization, 'base64');
    try {
      const isReader = await mayRead(ctx, authorization);
      if (isReader) checked.set(digest, ctx.clock.now());
      else checked.delete(digest);
      return isReader;
    } catch (error) {
      if (isRefusal(error)) checked.delete(digest);
      return wasGood(digest);
    }
  };
}

/** True if the key was checked: any other error leaves open whether it is good. */
const isRefusal = (error: unknown): boolean =>
  error instanceof AppError && errorCatalogue[error.code as ErrorCode].status < 500;

async function mayRead(ctx: HttpContext, authorization: string): Promise<boolean> {
  const caller = await ctx.authenticator.authenticate(authorization);
  return caller.kind === 'account' && nodeScopes.some((scope) => caller.scopes.includes(scope));
}
