import { newId } from '../../lib/id.ts';
import { run, type Statement, type Tx } from '../../store/sql.ts';
import { eventsInserted, PER_TRANSACTION, TooManyEventsError } from './event-store.ts';
import type { NewEvent } from './new-event.ts';

/**
 * Writes events in the caller's transaction: they exist if and only if the change does. Delivery starts after the commit; returns true when
 * there is a receiver.
 */
export async function emit(tx: Tx, events: readonly NewEvent[], now: Date): Promise<boolean> {
  if (events.length === 0) return false;
  const rows = await run(tx, emitted(events, now));
  if (rows.length < events.length)
    throw new TooManyEventsError(`A transaction has sequences for ${PER_TRANSACTION} events, and writes more.`);
  return rows.some(({ isToTell }) => isToTell);
}

/** Statement that emits events, for a transaction that writes no other events. Returns for each whether it has a receiver. */
export const emitted = (events: readonly NewEvent[], now: Date): Statement<{ isToTell: boolean }> =>
  eventsInserted(
    events.map((event) => ({ ...event, id: newId('evt') })),
    now,
  );
