import type { HasDb } from '../../db/database.ts';
import type { HasClock } from '../../lib/clock.ts';
import { IDLE_MS } from '../caller/session.ts';
import { listLiving } from '../limits/access-store.ts';

/** The valid ones of these keys and sessions: not revoked, not expired, and a session not idle for too long. */
export async function livingKeys(ctx: HasDb & HasClock, keyIds: readonly string[]): Promise<ReadonlySet<string>> {
  const now = ctx.clock.now();
  return new Set(await listLiving(ctx.db, keyIds, { now, seenAfter: new Date(now.getTime() - IDLE_MS) }));
}
