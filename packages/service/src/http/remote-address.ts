import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context } from 'hono';

/** The network address of the client; a request without a socket (in tests) comes from nowhere. */
export function addressOf(c: Context): string {
  try {
    return getConnInfo(c).remote.address ?? 'unknown';
  } catch {
    return 'unknown';
  }
}
