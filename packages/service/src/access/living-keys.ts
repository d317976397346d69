import type { HasDb } from '../db/database.ts';
import type { HasClock } from '../lib/clock.ts';
import { listLiving } from './access-store.ts';

/** Which of these keys are good now: not revoked, and not expired. */
export const livingKeys = async (ctx: HasDb & HasClock, keyIds: readonly string[]): Promise<ReadonlySet<string>> =>
  new Set(await listLiving(ctx.db, keyIds, ctx.clock.now()));
