import { invalid } from '../../lib/app-error.ts';
import type { HasGuardedFetch } from '../../lib/net/guarded-fetch.ts';

/** Throws VALIDATION_ERROR for a URL that this node would not send to: nobody should wait for a delivery that never comes. */
export function requireAllowedUrl(ctx: HasGuardedFetch, field: string, url: string): void {
  const check = ctx.guardedFetch.checkUrl(url);
  if (!check.ok) throw invalid(field, check.reason);
}
