import type { Api } from '@agent-network/contracts/api';
import type { DataOf, Parsed } from '@agent-network/contracts/endpoint';
import { formatUsdc } from '@agent-network/contracts/money';
import type { AccountCaller } from '../../access/caller/caller.ts';
import { requireOwned } from '../../agents/manage/own-agents.ts';
import type { HasDb } from '../../db/database.ts';
import type { HasClock } from '../../lib/clock.ts';
import { utcPeriod } from '../../lib/utc-period.ts';
import { type AgentFigureRow, listAgentFigures } from './call-figure-store.ts';

const DEFAULT_DAYS = 30;

/** An agent's earnings and calls by day (UTC), for its owner. At most 30 daily sums are read, whatever the number of calls. */
export async function readAgentEarnings(
  ctx: HasDb & HasClock,
  { accountId }: AccountCaller,
  agentId: string,
  { days = DEFAULT_DAYS }: Parsed<Api['getAgentEarnings']>['query'],
): Promise<DataOf<Api['getAgentEarnings']>> {
  await requireOwned(ctx, accountId, agentId);
  const period = utcPeriod(days, ctx.clock.now());
  const rows = await listAgentFigures(ctx.db, [agentId], period.from);
  const byStart = new Map(rows.map((row) => [row.start.getTime(), row]));
  const starts = days === 1 ? [period.from] : period.starts;
  return {
    ...{ agentId, days, from: period.from.toISOString(), to: period.to.toISOString() },
    ...sumUp(rows),
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
