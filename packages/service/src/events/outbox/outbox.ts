import type { Tx } from '../../db/sql.ts';
import { newId } from '../../lib/id.ts';
import { insertEvents } from './event-store.ts';
import type { NewEvent } from './new-event.ts';

/**
 * Writes events in the caller's transaction: they exist if and only if the change does. Delivery starts after the commit; returns true when
 * there is a receiver.
 */
export const emit = async (tx: Tx, events: readonly NewEvent[], now: Date): Promise<boolean> =>
  events.length > 0 &&
  insertEvents(
    tx,
    events.map((event) => ({ ...event, id: newId('evt') })),
    now,
  );
