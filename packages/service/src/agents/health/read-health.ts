import type { AgentHealth } from '@agent-network/contracts/agents/agent-figures';
import { mergeHistograms, percentileMs, toHistogram } from '../../lib/percentile.ts';
import { utcPeriod } from '../../lib/utc-period.ts';
import type { Store } from '../../store/database.ts';
import type { AgentServices } from '../agent-services.ts';
import { requireAgent } from '../search/find-agent.ts';
import { type HealthRow, listHealth } from './health-store.ts';

const DEFAULT_DAYS = 7;

/**
 * Results of an agent's checks in the last days (UTC), kept as sums by hour and day: at most 30 times 251 rows. Remote agents are checked
 * by their home node and have none here.
 */
export async function readHealth(
  ctx: Store & AgentServices,
  id: string,
  { days = DEFAULT_DAYS }: { days?: number | undefined },
): Promise<AgentHealth> {
  await requireAgent(ctx, id);
  const period = utcPeriod(days, ctx.clock.now());
  const rows = await listHealth(ctx.db, id, period.span, period.from);
  const byStart = new Map(rows.map((row) => [row.start.getTime(), row]));
  return {
    agentId: id,
    days,
    from: period.from.toISOString(),
    to: period.to.toISOString(),
    ...toHealth(rows),
    buckets: period.starts.map((start) => {
      const row = byStart.get(start.getTime());
      return { from: start.toISOString(), ...toHealth(row ? [row] : []) };
    }),
  };
}

function toHealth(rows: readonly HealthRow[]) {
  const sum = (pick: (row: HealthRow) => bigint) => Number(rows.reduce((total, row) => total + pick(row), 0n));
  const [checks, failed] = [sum((row) => row.checks), sum((row) => row.failed)];
  const times = mergeHistograms(rows.map((row) => toHistogram(row.times)));
  return {
    checks,
    failed,
    uptime: checks === 0 ? null : (checks - failed) / checks,
    p50Ms: percentileMs(times, 0.5),
    p95Ms: percentileMs(times, 0.95),
  };
}
