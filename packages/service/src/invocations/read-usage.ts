import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { formatUsdc } from '@agent-network/contracts/money';
import type { AccountCaller } from '../access/caller.ts';
import { readLimitUse, type UsageContext } from '../access/read-limit-use.ts';
import { earningsByDay } from '../payments/earnings.ts';
import { listAgentUsage, listUsageRows, type UsageRow } from './usage-store.ts';

type Usage = DataOf<Api['getUsage']>;

const DEFAULT_DAYS = 30;
const MOST_AGENTS = 20;
const DAY_MS = 86_400_000;

/** What is left of the key's limits, and what the account used, paid and earned on each of the last days (UTC), today last, and at which agents. */
export async function readUsage(
  ctx: UsageContext,
  caller: AccountCaller,
  { days = DEFAULT_DAYS }: { days?: number | undefined },
): Promise<Usage> {
  const dates = lastDates(ctx.clock.now(), days);
  const since = new Date(`${dates[0]}T00:00:00Z`);
  const [limits, usage, earnings, agents] = await Promise.all([
    readLimitUse(ctx, caller),
    listUsageRows(ctx.db, caller.accountId, since),
    earningsByDay(ctx, caller.accountId, since),
    listAgentUsage(ctx.db, caller.accountId, since, MOST_AGENTS),
  ]);
  const usageOf = new Map(usage.map((row) => [row.date, row]));
  return {
    plan: caller.plan,
    limits,
    days: dates.map((date) => ({
      date,
      ...toUse(usageOf.get(date) ?? nothing),
      earned: formatUsdc(earnings.get(date) ?? 0n),
    })),
    agents: agents.map((row) => ({ agentId: row.agentId, agentName: row.agentName, ...toUse(row) })),
  };
}

type Use = Omit<UsageRow, 'date'>;
const nothing: Use = { requests: 0n, completed: 0n, failed: 0n, spentMicro: 0n };
const toUse = ({ requests, completed, failed, spentMicro }: Use) => ({
  requests: Number(requests),
  completed: Number(completed),
  failed: Number(failed),
  spent: formatUsdc(spentMicro),
});

/** The dates (UTC) of the last days, the day of `now` last. */
export const lastDates = (now: Date, days: number): string[] =>
  Array.from({ length: days }, (_, index) =>
    new Date(now.getTime() - (days - 1 - index) * DAY_MS).toISOString().slice(0, 10),
  );
