import type { Api } from '@agent-network/contracts/api';
import type { Parsed } from '@agent-network/contracts/endpoint';
import type { KnownCaller } from '../../access/caller/caller.ts';
import type { HasDb } from '../../db/database.ts';
import type { HasClock } from '../../lib/clock.ts';
import { DAY_MS } from '../../lib/duration.ts';
import { preparedArray, prepareJson } from '../../lib/json/prepared-json.ts';
import { pageCursor, readPageCursor } from '../../lib/page-position.ts';
import { daysBefore, type HasRetention } from '../../lib/retention.ts';
import { toRecord } from '../invocation-view.ts';
import { requireOwn } from '../read-invocation.ts';
import { findContentsWithin, type InvocationContent } from '../record-store.ts';
import { findEnded } from './export-store.ts';

const DEFAULT_LIMIT = 20;
/** Bytes of inputs and results in one page. */
const PAGE_BYTES = 4 * 1024 * 1024;
/** No request runs longer than a day. */
const MAX_RUN_DAYS = 2;

/** The caller's ended requests with input and result, oldest first: those that retention removes next. A page has at least one. */
export async function exportRequests(
  ctx: HasDb & HasClock & HasRetention,
  caller: KnownCaller,
  { limit = DEFAULT_LIMIT, cursor }: Parsed<Api['exportRequests']>['query'],
) {
  const { resultDays, chunkDays, eventDays } = ctx.retention;
  const ids = await findEnded(ctx.db, {
    accountId: caller.accountId,
    callerAgentId: caller.kind === 'agent' ? caller.agentId : null,
    since: daysBefore(ctx.clock.now(), resultDays + MAX_RUN_DAYS),
    after: cursor === undefined ? null : readPageCursor(cursor),
    limit: limit + 1,
  });
  const page = ids.slice(0, limit).map(({ id }) => id);
  const contents = page.length === 0 ? [] : await findContentsWithin(ctx.db, page, PAGE_BYTES);
  const last = contents.at(-1);
  const hasMore = ids.length > contents.length;
  return {
    requests: preparedArray(contents.map((each) => prepareJson(toExported(requireOwn(each, caller), resultDays)))),
    keptDays: { results: resultDays, streams: chunkDays, events: eventDays },
    hasMore,
    nextCursor: hasMore && last ? pageCursor(last) : null,
  };
}

const toExported = (content: InvocationContent, resultDays: number) => ({
  ...toRecord(content),
  input: content.input,
  context: content.context,
  keptUntil: new Date((content.completedAt?.getTime() ?? 0) + resultDays * DAY_MS).toISOString(),
});
