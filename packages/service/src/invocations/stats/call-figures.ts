import { formatUsdc } from '@agent-network/contracts/money';
import { type Histogram, mergeHistograms, percentileMs, toHistogram } from '../../lib/percentile.ts';
import type { UtcPeriod } from '../../lib/utc-period.ts';
import type { FigureRow } from './call-figure-store.ts';

/** Sums over calls. */
export interface CallSum {
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
