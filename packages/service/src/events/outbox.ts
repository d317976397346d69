import type { EventType } from '@agent-network/contracts/events';
import type { Tx } from '../db/sql.ts';
import { newId } from '../lib/id.ts';
import { insertEvents } from './event-store.ts';

/** Something that happened to a thing of an account. */
export interface NewEvent {
  readonly type: EventType;
  readonly accountId: string;
  /** The id of the thing: a request, an agent, a payment. */
  readonly subjectId: string;
  /** The object that the matching GET answers with; null for one that no longer changes and is read when it is needed. */
  readonly data: unknown;
  /** Told besides the account's endpoints: the `webhookUrl` of a single request. */
  readonly webhookUrl?: string | null;
}

/** Writes events in the caller's transaction: they exist if and only if the change does. Telling others comes after the commit. */
export async function emit(tx: Tx, events: readonly NewEvent[], now: Date): Promise<void> {
  if (events.length > 0)
    await insertEvents(
      tx,
      events.map((event) => ({ ...event, id: newId('evt') })),
      now,
    );
}
