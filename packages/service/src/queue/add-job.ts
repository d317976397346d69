import type { Sql } from '../db/sql.ts';
import type { JobName, JobPayloads } from './job-types.ts';

export interface AddJobOptions {
  /** Default: at once after the commit. */
  runAt?: Date;
  /** Key of a waiting job: a later job under the same key replaces it. A running job is not touched. */
  jobKey?: string;
  /** replace (default): the waiting job gets the new payload and time. preserve_run_at: it keeps its time. */
  jobKeyMode?: 'replace' | 'preserve_run_at' | 'unsafe_dedupe';
  /** Lower runs first; default 0. */
  priority?: number;
  /** Default 25. With 1, a job whose process dies is never run again. */
  maxAttempts?: number;
}

/**
 * Adds a background job as part of the caller's transaction: it runs after the commit, or never. On a plain database handle it is its own
 * transaction.
 */
export async function addJob<N extends JobName>(
  sql: Sql,
  name: N,
  payload: JobPayloads[N],
  options: AddJobOptions = {},
): Promise<void> {
  await sql.query(
    'queue-add-job',
    `select graphile_worker.add_job($1, payload := $2::json, run_at := $3, job_key := $4, job_key_mode := $5,
                                    priority := $6, max_attempts := $7)`,
    [
      name,
      JSON.stringify(payload),
      options.runAt ?? null,
      options.jobKey ?? null,
      options.jobKeyMode ?? 'replace',
      options.priority ?? null,
      options.maxAttempts ?? null,
    ],
  );
}
