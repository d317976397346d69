import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { formatUsdc } from '@agent-network/contracts/money';
import type { AccountCaller } from '../access/caller.ts';
import { readLimitUse, type UsageContext } from '../access/read-limit-use.ts';
import { earningsByDay } from '../payments/earnings.ts';
import { listUsageRows } from './usage-store.ts';

type Usage = DataOf<Api['getUsage']>;

const DEFAULT_DAYS = 30;
const DAY_MS = 86_400_000;

/** What is left of the key's limits, and what the account used, paid and earned on each of the last days (UTC), today last. */
export async function readUsage(
  ctx: UsageContext,
  caller: AccountCaller,
  { days = DEFAULT_DAYS }: { days?: number | undefined },
): Promise<Usage> {
  const dates = lastDates(ctx.clock.now(), days);
  const since = new Date(`${dates[0]}T00:00:00Z`);
  const [limits, usage, earnings] = await Promise.all([
    readLimitUse(ctx, caller),
    listUsageRows(ctx.db, caller.accountId, since),
    earningsByDay(ctx, caller.accountId, since),
  ]);
  const usageOf = new Map(usage.map((row) => [row.date, row]));
  return {
    plan: caller.plan,
    limits,
    days: dates.map((date) => {
      const used = usageOf.get(date);
      return {
        date,
        requests: Number(used?.requests ?? 0),
        completed: Number(used?.completed ?? 0),
        failed: Number(used?.failed ?? 0),
        spent: formatUsdc(used?.spentMicro ?? 0n),
        earned: formatUsdc(earnings.get(date) ?? 0n),
      };
    }),
  };
}

/** The dates (UTC) of the last days, the day of `now` last. */
export const lastDates = (now: Date, days: number): string[] =>
  Array.from({ length: days }, (_, index) =>
    new Date(now.getTime() - (days - 1 - index) * DAY_MS).toISOString().slice(0, 10),
  );
