import type { Api } from '@agent-network/contracts/api';
import type { DataOf, Parsed } from '@agent-network/contracts/endpoint';
import { formatUsdc } from '@agent-network/contracts/money';
import type { KnownCaller } from '../access/caller.ts';
import type { HasDb } from '../db/database.ts';
import { invalid } from '../lib/app-error.ts';
import { formatDuration } from '../lib/duration.ts';
import { type HistoryQuery, type HistoryRow, readHistory, sumHistory } from './history-store.ts';

const DEFAULT_LIMIT = 20;
const DAY_MS = 86_400_000;

/** The caller's requests, newest first, with exact totals of all that match. Days are UTC; the last one is included. */
export async function listInvocations(
  ctx: HasDb,
  caller: KnownCaller,
  query: Parsed<Api['listInvocations']>['query'],
): Promise<DataOf<Api['listInvocations']>> {
  const limit = query.limit ?? DEFAULT_LIMIT;
  const offset = query.offset ?? 0;
  if (query.cursor !== undefined && query.offset !== undefined)
    throw invalid('cursor', 'cannot be used together with offset');
  if (query.startDate && query.endDate && query.startDate > query.endDate)
    throw invalid('endDate', 'is before startDate');
  const criteria: HistoryQuery = {
    accountId: caller.accountId,
    callerAgentId: caller.kind === 'agent' ? caller.agentId : null,
    agentId: query.agentId ?? null,
    status: query.status ?? null,
    bulkId: query.bulkId ?? null,
    from: query.startDate === undefined ? null : new Date(query.startDate),
    before: query.endDate === undefined ? null : new Date(new Date(query.endDate).getTime() + DAY_MS),
  };
  const after = query.cursor === undefined ? null : readCursor(query.cursor);
  const [rows, sums] = await Promise.all([
    readHistory(ctx.db, criteria, { after, limit: limit + 1, offset }),
    sumHistory(ctx.db, criteria),
  ]);
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = rows.length > limit;
  return {
    requests: shown.map(toItem),
    total: sums.total,
    totalCost: formatUsdc(sums.costMicro),
    hasMore,
    nextCursor: hasMore && last ? makeCursor(last) : null,
  };
}

const toItem = ({ costMicro, refundMicro, startedAt, completedAt, createdAt, ...rest }: HistoryRow) => ({
  ...rest,
  cost: costMicro === null ? null : formatUsdc(costMicro),
  refund: refundMicro === null ? null : formatUsdc(refundMicro),
  duration: startedAt && completedAt ? formatDuration(completedAt.getTime() - startedAt.getTime()) : null,
  createdAt: createdAt.toISOString(),
  completedAt: completedAt?.toISOString() ?? null,
});

const makeCursor = ({ createdAt, requestId }: HistoryRow) =>
  Buffer.from(`${createdAt.getTime()}.${requestId}`).toString('base64url');

function readCursor(cursor: string): { createdAt: Date; id: string } {
  const match = /^(\d{1,15})\.(req_[0-9a-z]+)$/.exec(Buffer.from(cursor, 'base64url').toString());
  if (!match?.[2]) throw invalid('cursor', 'is not one that this node made');
  return { createdAt: new Date(Number(match[1])), id: match[2] };
}
