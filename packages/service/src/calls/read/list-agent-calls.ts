import type { AgentCallItem } from '@agent-network/contracts/agents/agent-calls';
import type { Api } from '@agent-network/contracts/api';
import type { DataOf, Parsed } from '@agent-network/contracts/endpoint';
import { type FailureReason, failureReasons, requestStatuses } from '@agent-network/contracts/invocations/invocations';
import { formatUsdc } from '@agent-network/contracts/money';
import type { AccountCaller } from '../../accounts/caller.ts';
import { requireOwned } from '../../agents/listing/own-agents.ts';
import { invalid } from '../../lib/app-error.ts';
import { pageCursor, readPageCursor } from '../../lib/page-position.ts';
import { utcPeriod } from '../../lib/utc-period.ts';
import { agentTreasuryId } from '../../payments/ledger/treasury.ts';
import { readWithdrawn } from '../../payments/payouts/collect-earnings.ts';
import type { Store } from '../../store/database.ts';
import { comparingWithRecent } from '../usage/recent-usage.ts';
import { type AgentCallRow, groupFailures, listCallsTo } from './agent-call-store.ts';
import { type AgentFigureRow, listAgentFigures } from './call-figure-store.ts';

const DEFAULT_LIMIT = 20;
const DEFAULT_DAYS = 7;
const MAX_OF_A_CODE = 1000;
const MAX_GROUPS = 50;

/** Failure reasons with messages about the caller's money, which the agent's owner does not see. */
const silentReasons: readonly FailureReason[] = ['payment_failed'];

type Query = Parsed<Api['listAgentCalls']>['query'];

/**
 * All calls to an agent, newest first, for its owner. Input, result and the caller's identity are left out, as only the caller may reveal
 * them. An account that took over the agent sees the calls since then.
 */
export async function listAgentCalls(
  ctx: Store,
  { accountId }: AccountCaller,
  agentId: string,
  { status, error, limit = DEFAULT_LIMIT, ...query }: Query,
): Promise<DataOf<Api['listAgentCalls']>> {
  const { ownedSince } = await requireOwned(ctx, accountId, agentId);
  if (error !== undefined && status !== undefined && status !== 'failed')
    throw invalid('error', 'is of failed calls: leave status out, or ask for failed');
  const rows = await listCallsTo(ctx.db, {
    ...{ agentId, accountId, limit: limit + 1 },
    by:
      error === undefined
        ? { column: 'status', values: status === undefined ? requestStatuses : [status] }
        : { column: 'errorCode', values: [error] },
    from: latest(query.from === undefined ? null : new Date(query.from), ownedSince),
    before: query.before === undefined ? null : new Date(query.before),
    after: query.cursor === undefined ? null : readPageCursor(query.cursor),
  });
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = rows.length > limit;
  const comparing = await comparingWithRecent(ctx, agentId, shown);
  return {
    calls: shown.map((row) => ({ ...toItem(row), ...comparing(row.usage) })),
    hasMore,
    nextCursor: hasMore && last ? pageCursor({ createdAt: last.createdAt, id: last.requestId }) : null,
  };
}

const latest = (a: Date | null, b: Date | null): Date | null => (a && b ? (a > b ? a : b) : (a ?? b));

const toItem = ({ callerKind, costMicro, errorCode, errorMessage, ...row }: AgentCallRow): AgentCallItem => ({
  requestId: row.requestId,
  caller: callerKind,
  isOwn: row.isOwn,
  face: row.gateway,
  status: row.status,
  latencyMs: row.startedAt && row.completedAt ? row.completedAt.getTime() - row.startedAt.getTime() : null,
  cost: costMicro === null ? null : formatUsdc(costMicro),
  ...(row.usage ? { usage: row.usage } : {}),
  error: errorCode && { code: errorCode, message: silentReasons.includes(errorCode) ? null : errorMessage },
  endedEarly: row.isEndedEarly,
  callerEndedEarly: row.callerEndedEarly,
  createdAt: row.createdAt.toISOString(),
  completedAt: row.completedAt?.toISOString() ?? null,
});

/** Failed calls to an agent in groups, so that its owner sees what to fix first. */
export async function listAgentErrors(
  ctx: Store,
  { accountId }: AccountCaller,
  agentId: string,
  { days = DEFAULT_DAYS }: Parsed<Api['listAgentErrors']>['query'],
): Promise<DataOf<Api['listAgentErrors']>> {
  const { ownedSince } = await requireOwned(ctx, accountId, agentId);
  const period = utcPeriod(days, ctx.clock.now());
  const groups = await groupFailures(ctx.db, {
    ...{ agentId, codes: failureReasons, silent: silentReasons, most: MAX_OF_A_CODE, limit: MAX_GROUPS },
    from: latest(period.from, ownedSince) ?? period.from,
  });
  return {
    ...{ agentId, days, from: period.from.toISOString(), to: period.to.toISOString() },
    groups: groups.map(({ count, lastAt, ...group }) => ({
      ...{ code: group.code, message: group.message, isAtLeast: group.isAtLeast, requestId: group.requestId },
      count: Number(count),
      lastAt: lastAt.toISOString(),
    })),
  };
}

const EARNINGS_DAYS = 30;

/** An agent's earnings and calls by day (UTC), for its owner. Reads at most 30 daily sums, for any number of calls. */
export async function readAgentEarnings(
  ctx: Store,
  { accountId }: AccountCaller,
  agentId: string,
  { days = EARNINGS_DAYS }: Parsed<Api['getAgentEarnings']>['query'],
): Promise<DataOf<Api['getAgentEarnings']>> {
  const { ownedSince } = await requireOwned(ctx, accountId, agentId);
  const period = utcPeriod(days, ctx.clock.now());
  const rows = await listAgentFigures(ctx.db, [agentId], period.from);
  const withdrawnMicro = await readWithdrawn(ctx, agentTreasuryId(agentId), ownedSince);
  const byStart = new Map(rows.map((row) => [row.start.getTime(), row]));
  const starts = days === 1 ? [period.from] : period.starts;
  return {
    ...{ agentId, days, from: period.from.toISOString(), to: period.to.toISOString() },
    ...sumUp(rows),
    withdrawn: formatUsdc(withdrawnMicro),
    buckets: starts.map((start) => {
      const row = byStart.get(start.getTime());
      return { from: start.toISOString(), ...sumUp(row ? [row] : []) };
    }),
  };
}

function sumUp(rows: readonly AgentFigureRow[]) {
  const sum = (pick: (row: AgentFigureRow) => bigint) => rows.reduce((total, row) => total + pick(row), 0n);
  return {
    calls: Number(sum(({ calls }) => calls)),
    failed: Number(sum(({ failed }) => failed)),
    earned: formatUsdc(sum(({ amountMicro }) => amountMicro)),
  };
}
