import type { Metrics } from '../lib/metrics.ts';

/** Status of background jobs in this process. */
export interface QueueReport {
  /** False between the end of a runner and the start of its successor. */
  readonly isRunning: boolean;
  /** Overdue time of the job that waited longest, as of the last successful query. */
  readonly oldestDueS: number;
}

export interface QueueStanding {
  read(): QueueReport;
  set(report: Partial<QueueReport>): void;
  restarted(): void;
}

export interface HasQueueStanding {
  readonly queueStanding: QueueStanding;
}

/** Status that the worker's supervisor writes, and `/readyz` and the metrics read. */
export function createQueueStanding({
  metrics,
}: {
  metrics: Pick<Metrics, 'queueRunning' | 'queueRestarts' | 'queueOldestDueSeconds'>;
}): QueueStanding {
  let current: QueueReport = { isRunning: false, oldestDueS: 0 };
  return {
    read: () => current,
    set(report) {
      current = { ...current, ...report };
      metrics.queueRunning.set(current.isRunning ? 1 : 0);
      metrics.queueOldestDueSeconds.set(current.oldestDueS);
    },
    restarted: () => metrics.queueRestarts.inc(),
  };
}
