import type { Overview } from '@agent-network/contracts/invocations/figures';
import type { FailureReason } from '@agent-network/contracts/invocations/invocations';
import { formatUsdc } from '@agent-network/contracts/money';
import type { AccountCaller } from '../../access/caller/caller.ts';
import { readLimitUse, type UsageContext } from '../../access/limits/read-limit-use.ts';
import { readSpending } from '../../access/limits/spend.ts';
import { utcPeriod } from '../../lib/utc-period.ts';
import { listFigures, listLastFailures } from './call-figure-store.ts';
import { sumCalls, toBuckets, toFigures } from './call-figures.ts';

const DEFAULT_DAYS = 7;
const FAILURES = 10;

/**
 * An account's figures of the last days (UTC). Read from daily sums (hourly for one day) with duration histograms: at most 31 times 251
 * rows of either side, whatever the number of calls, plus the changes of the last second or so that are not folded yet.
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
