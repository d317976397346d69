import type { HasDb } from '../../../../db/database.ts';
import type { HasClock } from '../../../../lib/clock.ts';
import { daysBefore, type HasRetention, removeInSteps } from '../../../../lib/retention.ts';
import { deleteOldCharges, deleteOldClaims } from './claim-store.ts';

/** Longer than any reorg or replay of a payload matters. */
const CLAIM_DAYS = 30;

/**
 * Removes calls whose vouchers were claimed, as long after their end as results are kept, and claims after a month. The highest voucher of
 * a channel stays: it stands with the channel.
 */
export async function forgetCharges(ctx: HasDb & HasClock & HasRetention): Promise<void> {
  const now = ctx.clock.now();
  const days = Math.max(ctx.retention.resultDays, 1);
  await removeInSteps((most) => deleteOldCharges(ctx.db, daysBefore(now, days), most));
  await removeInSteps((most) => deleteOldClaims(ctx.db, daysBefore(now, CLAIM_DAYS), most));
}
