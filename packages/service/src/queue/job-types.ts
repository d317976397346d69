import type { Log } from '../lib/log/log.ts';

/** Job name -> payload. A payload is JSON: ids and small facts, never secrets or whole records. */
export interface JobPayloads {
  /** Executes a signed payment that the node owes on chain. */
  'settle-payment': { paymentId: string };
}

export type JobName = keyof JobPayloads & string;

/** The run that a handler is part of. */
export interface JobRun {
  jobId: string;
  /** 1 for the first run. A run that died with its process counts. */
  attempt: number;
  maxAttempts: number;
  /** Aborted when the process stops and the grace time is over. */
  signal: AbortSignal;
  log: Log;
}

/**
 * One handler per job. A job runs at least once: a handler that throws is run again with growing delays (e^attempt seconds), and the job of
 * a dead process runs again elsewhere, so handlers must be idempotent.
 */
export type JobHandlers = {
  [N in JobName]: (payload: JobPayloads[N], run: JobRun) => Promise<void>;
};
