import type { Api } from '@agent-network/contracts/api';
import type { Parsed } from '@agent-network/contracts/endpoint';
import type { EventType } from '@agent-network/contracts/events';
import type { StoredEvent } from '@agent-network/contracts/webhooks';
import type { AccountCaller } from '../../accounts/caller.ts';
import { AppError } from '../../lib/app-error.ts';
import { type PreparedJson, preparedArray, prepareJson } from '../../lib/json/prepared-json.ts';
import type { Store } from '../../store/database.ts';
import { type EventRow, listEventRows } from './event-store.ts';
import { findDecided } from './live-store.ts';
import { findHorizon } from './retention-store.ts';
import type { Subjects } from './subjects.ts';

/** An event as callers are shown it. */
export interface ShownEvent {
  readonly sequence: number;
  readonly type: EventType;
  readonly json: PreparedJson;
}

export interface EventPage {
  readonly events: readonly ShownEvent[];
  readonly hasMore: boolean;
  readonly next: number;
}

type Query = Parsed<Api['listEvents']>['query'];

/** Throws GONE when events after this one were removed, as the page would have a gap. */
export async function requireKept(
  ctx: Pick<Store, 'db'>,
  { accountId }: Pick<AccountCaller, 'accountId'>,
  after: number,
) {
  if (after > 0 && after < (await findHorizon(ctx.db, accountId))) throw eventsGone();
}

/** The account's events after a sequence, in order. Later commits have sequences above `next`. */
export async function readEvents(
  ctx: Pick<Store, 'db'> & Pick<Subjects, 'readSubjects'>,
  caller: Pick<AccountCaller, 'accountId'>,
  query: Query,
): Promise<EventPage> {
  const { after = 0, type = null, limit = 20 } = query;
  await requireKept(ctx, caller, after);
  const decided = type === null ? 0 : await findDecided(ctx.db);
  const rows = await listEventRows(ctx.db, caller.accountId, { after, type, limit: limit + 1 });
  const events = await readUntilFull(ctx, rows.slice(0, limit));
  const hasMore = rows.length > events.length;
  const last = events.at(-1)?.sequence ?? after;
  // The last event of a type may be old. The place goes past those of other types, whose removal would else look like a gap.
  return { events, hasMore, next: hasMore ? last : Math.max(last, decided) };
}

/** Reads events as the answer to GET /events. */
export async function listEvents(
  ctx: Pick<Store, 'db'> & Pick<Subjects, 'readSubjects'>,
  caller: Pick<AccountCaller, 'accountId'>,
  query: Query,
) {
  const { events, hasMore, next } = await readEvents(ctx, caller, query);
  return { events: preparedArray(events.map(({ json }) => json)), hasMore, next };
}

const eventsGone = () =>
  new AppError('GONE', 'Events after this one were removed after their retention period: start again with after=0.');

/** Page size: the event that reaches it ends the page. */
export const MAX_PAGE_BYTES = 256 * 1024;

/** Reads events and their subjects until the page is full; subjects beyond it are not read. */
async function readUntilFull(ctx: Pick<Subjects, 'readSubjects'>, rows: readonly EventRow[]): Promise<ShownEvent[]> {
  const events: ShownEvent[] = [];
  let bytes = 0;
  while (events.length < rows.length && bytes < MAX_PAGE_BYTES) {
    const rest = rows.slice(events.length);
    const withData = rest.findIndex(({ data }) => data !== null);
    const bare = withData === -1 ? rest : rest.slice(0, withData);
    const found =
      bare.length === 0 ? [rest[0]?.data] : await ctx.readSubjects(bare, { maxBytes: MAX_PAGE_BYTES - bytes });
    for (const data of found) {
      const row = rows[events.length];
      if (!row || bytes >= MAX_PAGE_BYTES) break;
      const json = prepareJson(toShown(row, data));
      bytes += json.bytes;
      events.push({ sequence: Number(row.sequence), type: row.type, json });
    }
  }
  return events;
}

const toShown = ({ eventId, sequence, type, createdAt }: EventRow, data: unknown): StoredEvent => ({
  eventId,
  sequence: Number(sequence),
  type,
  timestamp: createdAt.toISOString(),
  data: data as StoredEvent['data'],
});
