import type { Api } from '@agent-network/contracts/api';
import type { DataOf, Parsed } from '@agent-network/contracts/endpoint';
import { formatUsdc } from '@agent-network/contracts/money';
import type { KnownCaller } from '../../access/caller/caller.ts';
import type { HasDb } from '../../db/database.ts';
import { formatDuration } from '../../lib/duration.ts';
import { pageCursor, pageStartOf, readDays } from '../../lib/page-position.ts';
import { type HistoryQuery, type HistoryRow, readHistory, sumHistory } from './history-store.ts';

const DEFAULT_LIMIT = 20;

/** The caller's requests, newest first, with exact totals; of large tasks fewer than a page has. Days are UTC, inclusive. */
export async function listInvocations(
  ctx: HasDb,
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
