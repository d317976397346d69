import type { HasDb } from '../db/database.ts';
import { listEarningRows } from './earnings-store.ts';

/** What an account's agents earned since a time, by date (UTC), in micro-USDC. */
export async function earningsByDay(ctx: HasDb, accountId: string, since: Date): Promise<ReadonlyMap<string, bigint>> {
  const rows = await listEarningRows(ctx.db, accountId, since);
  return new Map(rows.map(({ date, earnedMicro }) => [date, earnedMicro]));
}
