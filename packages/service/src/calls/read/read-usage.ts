import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { formatUsdc } from '@agent-network/contracts/money';
import type { AccountCaller } from '../../accounts/caller.ts';
import { readLimitUse, type UsageContext } from '../../accounts/limits/read-limit-use.ts';
import { DAY_MS } from '../../lib/duration.ts';
import { type Histogram, mergeHistograms, percentileMs, toHistogram } from '../../lib/percentile.ts';
import type { UtcPeriod } from '../../lib/utc-period.ts';
import { type AgentUseRow, countOpenByDay, type FigureRow, listAgentUse, listFigures } from './call-figure-store.ts';

type Usage = DataOf<Api['getUsage']>;

const DEFAULT_DAYS = 30;
const MAX_AGENTS = 20;

/**
 * The remaining limits of the key, and the account's use, spending and earnings by day of the request (UTC), today last, and by agent. Read
 * from sums, for any number of requests.
 */
export async function readUsage(
  ctx: UsageContext,
  caller: AccountCaller,
  { days = DEFAULT_DAYS }: { days?: number | undefined },
): Promise<Usage> {
  const { accountId, plan } = caller;
  const dates = lastDates(ctx.clock.now(), days);
  const since = new Date(`${dates[0]}T00:00:00Z`);
  // One snapshot, so that a request that ends meanwhile is counted once.
  const reading = ctx.db.transaction(
    (tx) =>
      Promise.all([
        listFigures(tx, accountId, 'day', since),
        countOpenByDay(tx, accountId, since),
        listAgentUse(tx, accountId, since, MAX_AGENTS),
      ]),
    { isolation: 'repeatable read' },
  );
  const [limits, freeCalls, [figures, open, agents]] = await Promise.all([
    readLimitUse(ctx, caller),
    ctx.freeCalls.look(caller),
    reading,
  ]);
  const figuresOf = Map.groupBy(figures, ({ start }) => dateOf(start));
  const openOf = new Map(open.map(({ date, requests }) => [date, Number(requests)]));
  return {
    plan,
    limits: { ...limits, freeCalls },
    days: dates.map((date) => {
      const here = figuresOf.get(date) ?? [];
      const made = sumCalls(here.filter(({ side }) => side === 'made'));
      const received = sumCalls(here.filter(({ side }) => side === 'received'));
      return {
        date,
        requests: made.calls + (openOf.get(date) ?? 0),
        completed: made.completed,
        failed: made.failed,
        spent: formatUsdc(made.amountMicro),
        earned: formatUsdc(received.amountMicro),
      };
    }),
    agents: agents.map(toAgentUse),
  };
}

const toAgentUse = ({ agentId, agentName, requests, completed, failed, spentMicro }: AgentUseRow) => ({
  agentId,
  agentName,
  requests: Number(requests),
  completed: Number(completed),
  failed: Number(failed),
  spent: formatUsdc(spentMicro),
});

const dateOf = (time: Date): string => time.toISOString().slice(0, 10);

/** The dates (UTC) of the last days, ending with the day of `now`. */
export const lastDates = (now: Date, days: number): string[] =>
  Array.from({ length: days }, (_, index) => dateOf(new Date(now.getTime() - (days - 1 - index) * DAY_MS)));

/** Sums over calls. */
interface CallSum {
  readonly calls: number;
  readonly completed: number;
  readonly failed: number;
  readonly amountMicro: bigint;
  readonly times: Histogram;
}

type Counted = Omit<FigureRow, 'side' | 'start'>;

export function sumCalls(rows: readonly Counted[]): CallSum {
  const sum = (pick: (row: Counted) => bigint) => Number(rows.reduce((total, row) => total + pick(row), 0n));
  return {
    calls: sum((row) => row.calls),
    completed: sum((row) => row.completed),
    failed: sum((row) => row.failed),
    amountMicro: rows.reduce((total, row) => total + row.amountMicro, 0n),
    times: mergeHistograms(rows.map((row) => toHistogram(row.times))),
  };
}

/** The figures of calls on the wire; cancelled ones do not count in the success rate. */
export const toFigures = ({ calls, completed, failed, times }: CallSum) => ({
  calls,
  succeeded: completed,
  failed,
  successRate: completed + failed === 0 ? null : completed / (completed + failed),
  p50Ms: percentileMs(times, 0.5),
  p95Ms: percentileMs(times, 0.95),
});

/** One bucket for each hour or day of the period, empty ones included. */
export function toBuckets({ starts }: UtcPeriod, rows: readonly FigureRow[]) {
  const byStart = Map.groupBy(rows, ({ start }) => start.getTime());
  return starts.map((start) => {
    const here = byStart.get(start.getTime()) ?? [];
    const made = sumCalls(here.filter(({ side }) => side === 'made'));
    const received = sumCalls(here.filter(({ side }) => side === 'received'));
    return {
      from: start.toISOString(),
      calls: made.calls,
      failed: made.failed,
      spent: formatUsdc(made.amountMicro),
      earned: formatUsdc(received.amountMicro),
      p50Ms: percentileMs(made.times, 0.5),
      p95Ms: percentileMs(made.times, 0.95),
    };
  });
}
