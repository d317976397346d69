import type { Metrics } from '../lib/metrics.ts';

/** Status of background jobs in this process. */
export interface QueueReport {
  /** False while the worker was given up and its successor is not there yet. */
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

/** Told by the worker's supervisor, read by `/readyz` and the metrics. */
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
