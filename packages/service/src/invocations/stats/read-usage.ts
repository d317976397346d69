import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { formatUsdc } from '@agent-network/contracts/money';
import type { AccountCaller } from '../../access/caller/caller.ts';
import type { HasFreeCalls } from '../../access/limits/free-calls.ts';
import { readLimitUse, type UsageContext } from '../../access/limits/read-limit-use.ts';
import { DAY_MS } from '../../lib/duration.ts';
import { listFigures } from './call-figure-store.ts';
import { sumCalls } from './call-figures.ts';
import { type AgentUseRow, countOpenByDay, listAgentUse } from './usage-store.ts';

type Usage = DataOf<Api['getUsage']>;

const DEFAULT_DAYS = 30;
const MAX_AGENTS = 20;

/**
 * The remaining limits of the key, and the account's use, spending and earnings by day of the request (UTC), today last, and by agent. Read
 * from sums, whatever the number of requests.
 */
export async function readUsage(
  ctx: UsageContext & HasFreeCalls,
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
