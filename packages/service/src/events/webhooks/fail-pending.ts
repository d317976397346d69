import { removeInSteps } from '../../lib/retention.ts';
import type { Store } from '../../store/database.ts';
import { failSomePending } from './attempt-store.ts';

/**
 * Fails the pending deliveries of a disabled webhook, in steps: after days of outage there may be millions, and the lock that disables the
 * webhook delays the fan-out of all accounts. An enabled webhook keeps its deliveries.
 */
export const failPending = (ctx: Store, webhookId: string): Promise<void> =>
  removeInSteps((most) => failSomePending(ctx.db, webhookId, most));

/** Fails the pending deliveries of all disabled webhooks, left by processes that died or by a round that was too short. */
export const failLeftPending = (ctx: Store): Promise<void> =>
  removeInSteps((most) => failSomePending(ctx.db, null, most));
