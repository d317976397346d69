import type { Api } from '@agent-network/contracts/api';
import type { DataOf, Parsed } from '@agent-network/contracts/endpoint';
import type { Overview } from '@agent-network/contracts/invocations/figures';
import type { FailureReason } from '@agent-network/contracts/invocations/invocations';
import { formatUsdc } from '@agent-network/contracts/money';
import type { AccountCaller } from '../../accounts/caller.ts';
import { readLimitUse, type UsageContext } from '../../accounts/limits/read-limit-use.ts';
import { readSpending } from '../../accounts/limits/spend.ts';
import { suspensionOf } from '../../accounts/suspension.ts';
import { ownAgents, toOwnAgent } from '../../agents/listing/own-agents.ts';
import { decodeCursor, encodeCursor } from '../../lib/page-position.ts';
import { utcPeriod } from '../../lib/utc-period.ts';
import { agentTreasuries } from '../../payments/ledger/treasury.ts';
import type { Store } from '../../store/database.ts';
import { type AgentFigureRow, listAgentFigures, listFigures, listLastFailures } from './call-figure-store.ts';
import { sumCalls, toBuckets, toFigures } from './read-usage.ts';

const DEFAULT_DAYS = 7;
const FAILURES = 10;

/**
 * An account's figures of the last days (UTC). Read from daily sums (hourly for one day) with duration histograms: at most 31 times 251
 * rows of either side, for any number of calls, plus the changes of the last second or so that are not aggregated yet.
 */
export async function readOverview(
  ctx: UsageContext,
  caller: AccountCaller,
  { days = DEFAULT_DAYS }: { days?: number | undefined },
): Promise<Overview> {
  const now = ctx.clock.now();
  const period = utcPeriod(days, now);
  const [rows, failures, limits, spending] = await Promise.all([
    listFigures(ctx.db, caller.accountId, period.span, period.from),
    listLastFailures(ctx.db, caller.accountId, FAILURES),
    readLimitUse(ctx, caller),
    readSpending(ctx, caller, now),
  ]);
  const made = sumCalls(rows.filter(({ side }) => side === 'made'));
  const received = sumCalls(rows.filter(({ side }) => side === 'received'));
  return {
    days,
    from: period.from.toISOString(),
    to: now.toISOString(),
    ...toFigures(made),
    spent: formatUsdc(made.amountMicro),
    earned: formatUsdc(received.amountMicro),
    buckets: toBuckets(period, rows),
    received: { ...toFigures(received), earned: formatUsdc(received.amountMicro) },
    recentFailures: failures.map(({ errorCode, errorMessage, at, ...failure }) => ({
      ...failure,
      code: errorCode as FailureReason,
      message: errorMessage ?? '',
      at: at.toISOString(),
    })),
    limits: { plan: caller.plan, ...limits, spending },
  };
}

const DEFAULT_LIMIT = 20;
const MAX_DAYS = 30;

/**
 * The caller's agents, newest first, with balance and earnings. A page is one index range; for each agent on it, 30 rows of daily sums are
 * read, for any number of its calls.
 */
export async function listOwnAgents(
  ctx: Store & { readonly nodeLabel: string },
  caller: AccountCaller,
  { agentId, limit = DEFAULT_LIMIT, cursor }: Parsed<Api['listOwnAgents']>['query'],
): Promise<DataOf<Api['listOwnAgents']>> {
  const now = ctx.clock.now();
  const after = cursor === undefined ? null : (decodeCursor(cursor, /^(agt_[0-9a-z]+)$/)[0] ?? null);
  const { agents, total } = await ownAgents(ctx, caller.accountId, {
    agentId: agentId ?? null,
    after,
    limit: limit + 1,
  });
  const shown = agents.slice(0, limit);
  const ids = shown.map(({ id }) => id);
  const [treasuries, figures, suspension] = await Promise.all([
    agentTreasuries(ctx, ids),
    listAgentFigures(ctx.db, ids, utcPeriod(MAX_DAYS, now).from),
    suspensionOf(ctx.db, caller.accountId),
  ]);
  const figuresOf = Map.groupBy(figures, ({ agentId }) => agentId);
  const hasMore = agents.length > limit;
  const last = shown.at(-1);
  return {
    agents: shown.map((agent) => {
      const treasury = treasuries.get(agent.id);
      const heldMicro = treasury?.heldMicro ?? 0n;
      return {
        ...toOwnAgent(ctx, agent, suspension),
        treasuryId: treasury?.id ?? null,
        balance: {
          available: formatUsdc((treasury?.postedMicro ?? 0n) - heldMicro),
          held: formatUsdc(heldMicro),
        },
        ...sumUp(figuresOf.get(agent.id) ?? [], now),
      };
    }),
    total,
    hasMore,
    nextCursor: hasMore && last ? encodeCursor(last.id) : null,
  };
}

function sumUp(rows: readonly AgentFigureRow[], now: Date) {
  const since = (days: number) => rows.filter(({ start }) => start >= utcPeriod(days, now).from);
  const earned = (days: number) => formatUsdc(since(days).reduce((sum, each) => sum + each.amountMicro, 0n));
  const count = (pick: (row: AgentFigureRow) => bigint) => Number(since(7).reduce((sum, each) => sum + pick(each), 0n));
  return {
    earned: { today: earned(1), days7: earned(7), days30: earned(MAX_DAYS) },
    calls7: count(({ calls }) => calls),
    failures7: count(({ failed }) => failed),
  };
}
