import type { Api } from '@agent-network/contracts/api';
import type { DataOf, Parsed } from '@agent-network/contracts/endpoint';
import type { StoredEvent } from '@agent-network/contracts/webhooks';
import type { AccountCaller } from '../../access/caller/caller.ts';
import type { HasDb } from '../../db/database.ts';
import { AppError } from '../../lib/app-error.ts';
import { type EventRow, listEventRows } from './event-store.ts';
import { findHorizon } from './retention-store.ts';
import type { HasSubjects } from './subjects.ts';

/** The account's events after a sequence, in order. Later commits have sequences above `next`. */
export async function readEvents(
  ctx: HasDb & HasSubjects,
  caller: Pick<AccountCaller, 'accountId'>,
  query: Parsed<Api['listEvents']>['query'],
): Promise<DataOf<Api['listEvents']>> {
  const { after = 0, type = null, limit = 20 } = query;
  if (after > 0 && after < (await findHorizon(ctx.db, caller.accountId))) throw eventsGone();
  const rows = await listEventRows(ctx.db, caller.accountId, { after, type, limit: limit + 1 });
  const events = await readUntilFull(ctx, rows.slice(0, limit));
  return { events, hasMore: rows.length > events.length, next: events.at(-1)?.sequence ?? after };
}

const eventsGone = () =>
  new AppError('GONE', 'Events after this one were removed after their retention period: start again with after=0.');

/** Page size: the event that reaches it ends the page. */
export const MAX_PAGE_BYTES = 1024 * 1024;
const MAX_AT_ONCE = 20;

/** Reads as many large objects at once as are likely to fit, estimated from earlier ones. */
async function readUntilFull(ctx: HasSubjects, rows: readonly EventRow[]): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  let bytes = 0;
  while (events.length < rows.length && bytes < MAX_PAGE_BYTES) {
    const each = bytes / Math.max(1, events.length);
    const likely = events.length === 0 ? 1 : Math.floor((MAX_PAGE_BYTES - bytes) / each);
    const count = Math.max(1, Math.min(MAX_AT_ONCE, likely));
    for (const event of await Promise.all(
      rows.slice(events.length, events.length + count).map((row) => read(ctx, row)),
    )) {
      if (bytes >= MAX_PAGE_BYTES) break;
      events.push(event);
      bytes += Buffer.byteLength(JSON.stringify(event));
    }
  }
  return events;
}

const read = async (ctx: HasSubjects, row: EventRow): Promise<StoredEvent> => ({
  eventId: row.eventId,
  sequence: Number(row.sequence),
  type: row.type,
  timestamp: row.createdAt.toISOString(),
  data: (row.data ?? (await ctx.readSubject(row))) as StoredEvent['data'],
});
