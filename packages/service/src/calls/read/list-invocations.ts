import type { Api } from '@agent-network/contracts/api';
import type { DataOf, Parsed } from '@agent-network/contracts/endpoint';
import { formatUsdc } from '@agent-network/contracts/money';
import type { KnownCaller } from '../../accounts/caller.ts';
import { DAY_MS, formatDuration } from '../../lib/duration.ts';
import { preparedArray, prepareJson } from '../../lib/json/prepared-json.ts';
import { pageCursor, pageStartOf, readDays, readPageCursor } from '../../lib/page-position.ts';
import { daysBefore, type Retention } from '../../lib/retention.ts';
import type { Store } from '../../store/database.ts';
import { toRecord } from '../invocation-view.ts';
import { requireOwn } from '../read-invocation.ts';
import { findContentsWithin, type InvocationContent } from '../record-store.ts';
import { findEnded, type HistoryQuery, type HistoryRow, readHistory, sumHistory } from './history-store.ts';

const DEFAULT_LIMIT = 20;

/** The caller's requests, newest first, with exact totals; of large tasks fewer than a page has. Days are UTC, inclusive. */
export async function listInvocations(
  ctx: Store,
  caller: KnownCaller,
  query: Parsed<Api['listInvocations']>['query'],
): Promise<DataOf<Api['listInvocations']>> {
  const limit = query.limit ?? DEFAULT_LIMIT;
  const offset = query.offset ?? 0;
  const after = pageStartOf(query);
  const criteria: HistoryQuery = {
    accountId: caller.accountId,
    callerAgentId: caller.kind === 'agent' ? caller.agentId : null,
    agentId: query.agentId ?? null,
    status: query.status ?? null,
    bulkId: query.bulkId ?? null,
    contextId: query.contextId ?? null,
    changedAfter: query.changedAfter === undefined ? null : new Date(query.changedAfter),
    search: query.search?.trim() || null,
    ...readDays(query),
  };
  const [rows, sums] = await Promise.all([
    readHistory(ctx.db, criteria, { after, limit: limit + 1, offset }),
    sumHistory(ctx.db, criteria),
  ]);
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = last?.hasNext ?? false;
  return {
    requests: shown.map(toItem),
    total: sums.total,
    totalCost: formatUsdc(sums.costMicro),
    hasMore,
    nextCursor: hasMore && last ? pageCursor({ createdAt: last.createdAt, id: last.requestId }) : null,
  };
}

const toItem = ({ costMicro, refundMicro, startedAt, completedAt, createdAt, hasNext: _, ...rest }: HistoryRow) => ({
  ...rest,
  cost: costMicro === null ? null : formatUsdc(costMicro),
  refund: refundMicro === null ? null : formatUsdc(refundMicro),
  duration: startedAt && completedAt ? formatDuration(completedAt.getTime() - startedAt.getTime()) : null,
  createdAt: createdAt.toISOString(),
  completedAt: completedAt?.toISOString() ?? null,
});

/** Bytes of inputs and results in one page. */
const PAGE_BYTES = 4 * 1024 * 1024;
/** No request runs longer than a day. */
const MAX_RUN_DAYS = 2;

/** The caller's ended requests with input and result, oldest first: those that retention removes next. A page has at least one. */
export async function exportRequests(
  ctx: Store & { readonly retention: Retention },
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
