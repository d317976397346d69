import { daysBefore, type Retention, removeInSteps } from '../../lib/retention.ts';
import type { Store } from '../../store/database.ts';
import { failOldPending, type OutboxStep, removeAttempts, removeDeliveries, removeEvents } from './retention-store.ts';

/** A delivery that is pending keeps its event, but not for longer than this many times the retention period. */
const PENDING_PERIODS = 2;

/** Removes delivered events and ended deliveries after their retention period. */
export async function forgetEvents(ctx: Store & { readonly retention: Retention }): Promise<void> {
  const { eventDays } = ctx.retention;
  const before = daysBefore(ctx.clock.now(), eventDays);
  const longBefore = daysBefore(ctx.clock.now(), PENDING_PERIODS * eventDays);
  await walkOutbox((step) => failOldPending(ctx.db, longBefore, step));
  // Attempts in steps of their own: those of a thousand deliveries can be too many for one statement.
  await removeInSteps(
    async (most) => (await removeAttempts(ctx.db, before, most)) || removeDeliveries(ctx.db, before, most),
  );
  await walkOutbox((step) => ctx.db.transaction((tx) => removeEvents(tx, before, step)));
}

/** Walks over old events, oldest first. Events that stay do not block later ones. */
function walkOutbox(takeStep: (step: OutboxStep) => Promise<bigint | null>): Promise<void> {
  let after = 0n;
  return removeInSteps(async (most) => {
    const last = await takeStep({ after, most });
    after = last ?? after;
    return last === null ? 0 : most;
  });
}
