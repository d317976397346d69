import type { HasDb } from '../../db/database.ts';
import type { HasClock } from '../../lib/clock.ts';
import { daysBefore, type HasRetention, removeInSteps } from '../../lib/retention.ts';
import { removeDeliveries, removeEvents } from './retention-store.ts';

/** Removes delivered events and ended deliveries after their retention period. */
export async function forgetEvents(ctx: HasDb & HasClock & HasRetention): Promise<void> {
  const before = daysBefore(ctx.clock.now(), ctx.retention.eventDays);
  await removeInSteps((most) => removeDeliveries(ctx.db, before, most));
  await removeInSteps((most) => ctx.db.transaction((tx) => removeEvents(tx, before, most)));
}
