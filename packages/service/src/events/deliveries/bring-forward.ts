import type { Records } from '../../db/records.ts';
import { markDue } from '../webhooks/webhook-store.ts';
import { type AnsweringReceiver, bringSomeForward, type RetryPosition } from './endpoint-queue-store.ts';

const STEP = 1000;
/** The endpoint's next turn waits meanwhile. */
const ROUND_MS = 2000;

/**
 * Brings forward what failed before at receivers that have just succeeded, in steps without the webhook's lock: of a receiver that was away for
 * days there may be millions, and that lock holds up the fan-out of all accounts. What is left, after a round or the end of a process, waits for
 * the schedule or for the next success. Returns true when something is due now.
 */
export async function bringForward(ctx: Records, answered: AnsweringReceiver, signal: AbortSignal): Promise<boolean> {
  const [now, endMs] = [ctx.clock.now(), performance.now() + ROUND_MS];
  let behind: RetryPosition | null = null;
  let firstAt: Date | null = null;
  do {
    const { next, dueAt } = await bringSomeForward(ctx.db, answered, { behind, most: STEP, now });
    if (dueAt !== null) {
      // In each step: another process may have taken the queue since the last one, and released it for what it saw.
      await markDue(ctx.db, [answered.webhookId], dueAt);
      if (firstAt === null || dueAt < firstAt) firstAt = dueAt;
    }
    behind = next;
  } while (behind !== null && !signal.aborted && performance.now() < endMs);
  return firstAt !== null && firstAt <= now;
}
