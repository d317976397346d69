import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import { newId } from '../../lib/id.ts';
import type { Store } from '../../store/database.ts';
import { ensureAccountWebhook } from '../webhooks/account-webhook.ts';
import { markDue } from '../webhooks/webhook-store.ts';
import {
  type EventRecipient,
  insertDeliveries,
  listUntold,
  lockFanOut,
  lockListeners,
  markTold,
  type NewDelivery,
  type UntoldEvent,
} from './fan-out-store.ts';

const BATCH = 500;

/** `more`: events are left; `wait`: events are left behind an open transaction. */
export type FanOutResult = 'done' | 'more' | 'wait';

/**
 * Turns committed events into deliveries, in order and exactly once, in one process at a time: one for each enabled endpoint that
 * subscribes to the type, one for the event's own URL. A hanging transaction delays events by ten seconds at most.
 */
export async function fanOut(ctx: Store & Pick<NodeKeys, 'secrets'>): Promise<FanOutResult> {
  const now = ctx.clock.now();
  return ctx.db.transaction(async (tx) => {
    if (!(await lockFanOut(tx))) return 'done';
    const untold = await listUntold(tx, BATCH);
    const firstUndecided = untold.findIndex((event) => event.isUndecided);
    const events = firstUndecided === -1 ? untold : untold.slice(0, firstUndecided);
    if (events.length > 0) {
      const withUrl = new Set(events.flatMap((event) => (event.webhookUrl === null ? [] : [event.accountId])));
      for (const accountId of withUrl) await ensureAccountWebhook(ctx, tx, accountId);
      const listeners = await lockListeners(tx, [...new Set(events.map((event) => event.accountId))]);
      const deliveries = deliveriesOf(events, listeners);
      await insertDeliveries(tx, deliveries, now);
      await markDue(tx, [...new Set(deliveries.map(({ webhookId }) => webhookId))], now);
      await markTold(
        tx,
        events.map(({ sequence }) => sequence),
      );
    }
    if (firstUndecided !== -1) return 'wait';
    return untold.length === BATCH ? 'more' : 'done';
  });
}

/** Matches events with their receivers. */
export function deliveriesOf(events: readonly UntoldEvent[], listeners: readonly EventRecipient[]): NewDelivery[] {
  const ofAccount = Map.groupBy(listeners, ({ accountId }) => accountId);
  return events.flatMap(({ eventId, sequence, type, accountId, webhookUrl }) =>
    (ofAccount.get(accountId) ?? [])
      .filter(({ kind, eventTypes }) =>
        kind === 'account' ? webhookUrl !== null : eventTypes === null || eventTypes.includes(type),
      )
      .map(({ id: webhookId, kind }) => {
        const url = kind === 'account' ? webhookUrl : null;
        return { id: newId('dlv'), webhookId, eventId, sequence, type, url };
      }),
  );
}
