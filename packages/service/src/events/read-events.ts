import type { Api } from '@agent-network/contracts/api';
import type { DataOf, Parsed } from '@agent-network/contracts/endpoint';
import type { AccountCaller } from '../access/caller.ts';
import type { HasDb } from '../db/database.ts';
import { listEventRows } from './event-store.ts';
import type { HasSubjects } from './subjects.ts';

/** The account's events after a sequence, in order. None that commits later will have a sequence at or below `next`. */
export async function readEvents(
  ctx: HasDb & HasSubjects,
  caller: Pick<AccountCaller, 'accountId'>,
  query: Parsed<Api['listEvents']>['query'],
): Promise<DataOf<Api['listEvents']>> {
  const { after = 0, type = null, limit = 20 } = query;
  const rows = await listEventRows(ctx.db, caller.accountId, { after, type, limit: limit + 1 });
  const shown = rows.slice(0, limit);
  const events = await Promise.all(
    shown.map(async (row) => ({
      eventId: row.eventId,
      sequence: Number(row.sequence),
      type: row.type,
      timestamp: row.createdAt.toISOString(),
      data: row.data ?? (await ctx.readSubject(row)),
    })),
  );
  return { events, hasMore: rows.length > limit, next: events.at(-1)?.sequence ?? after };
}
