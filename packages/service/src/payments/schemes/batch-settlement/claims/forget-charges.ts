import { daysBefore, type Retention, removeForARound, removeInSteps } from '../../../../lib/retention.ts';
import type { Store } from '../../../../store/database.ts';
import { type ChargePosition, deleteOldCharges, deleteOldClaims } from '../removal-store.ts';

/** Longer than any reorg or replay of a payload matters. */
const CLAIM_DAYS = 30;
const PAUSE_MS = 3_600_000;

/**
 * Removes calls with claimed vouchers after the retention time of results, and claims after a month. The channel keeps its highest voucher.
 * A round continues where the last one ended, so that calls of channels too small to claim are not read again before all others. The next
 * round starts an hour after the last call.
 */
export function createChargeRemoval(ctx: Store & { readonly retention: Retention }): () => Promise<void> {
  let after: ChargePosition | null = null;
  let nextMs = 0;
  return async () => {
    const now = ctx.clock.now();
    const days = Math.max(ctx.retention.resultDays, 1);
    const removeSome = async (most: number) => {
      after = await deleteOldCharges(ctx.db, daysBefore(now, days), { after, most });
      return after === null ? 0 : most;
    };
    if (now.getTime() >= nextMs && (await removeForARound(removeSome))) nextMs = now.getTime() + PAUSE_MS;
    await removeInSteps((most) => deleteOldClaims(ctx.db, daysBefore(now, CLAIM_DAYS), most));
  };
}
