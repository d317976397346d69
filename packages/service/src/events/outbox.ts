import type { Tx } from '../db/sql.ts';
import { newId } from '../lib/id.ts';
import { insertEvents } from './event-store.ts';
import type { NewEvent } from './new-event.ts';

/** Writes events in the caller's transaction: they exist if and only if the change does. Telling others comes after the commit. */
export async function emit(tx: Tx, events: readonly NewEvent[], now: Date): Promise<void> {
  if (events.length > 0)
    await insertEvents(
      tx,
      events.map((event) => ({ ...event, id: newId('evt') })),
      now,
    );
}
