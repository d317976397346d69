import { setTimeout as delay } from 'node:timers/promises';
import type { CronItem } from 'graphile-worker';
import { type JobRunner, type RunnerContext, startJobRunner } from './job-runner.ts';
import type { JobHandlers } from './job-types.ts';
import { oldestDueSeconds } from './process-store.ts';
import type { HasQueueStanding } from './queue-standing.ts';

const FIRST_RESTART_MS = 250;
const MAX_RESTART_MS = 10_000;
/** Lifetime after which a runner that ends is replaced without a delay. */
const STEADY_MS = 60_000;
/** Time that running jobs get after their runner was given up; then they are handed back and run again. */
const REPLACE_GRACE_MS = 1_000;
/** Maximum start delay of a job whose NOTIFY was lost, or whose time has come. */
const CHECK_MS = 1_000;
/** Overdue time of a job, with a free place, from which the runner counts as not looking for jobs. */
const OVERDUE_S = 20;
const IDLE_MS = 10_000;

export interface WorkerOptions {
  /** Maximum concurrent jobs. */
  concurrency: number;
  cronItems?: readonly CronItem[];
}

export interface QueueWorker {
  /**
   * Takes no more jobs and waits for the running ones. After `gracefulMs` aborts their signals; half a second later hands the rest back to
   * the queue, which counts as a failed attempt.
   */
  stop(gracefulMs: number): Promise<void>;
}

/**
 * Runs jobs until stopped. Needs the process's heartbeat: no job is locked before the locks would be freed by our death. Replaces a runner
 * that ends, does not look for jobs, or leaves due ones waiting, with growing delays.
 */
export async function startWorker(
  ctx: RunnerContext & HasQueueStanding,
  handlers: JobHandlers,
  { concurrency, cronItems = [] }: WorkerOptions,
): Promise<QueueWorker> {
  const jobNames = Object.keys(handlers);
  const start = () => startJobRunner(ctx, handlers, { concurrency, cronItems });
  const stopping = new AbortController();
  let current: JobRunner | null = await start();
  ctx.queueStanding.set({ isRunning: true });

  const supervise = async (): Promise<void> => {
    let pauseMs = FIRST_RESTART_MS;
    while (current && !stopping.signal.aborted) {
      const startedMs = performance.now();
      const reason = await givenUp(ctx, current, { jobNames, stopping: stopping.signal });
      if (reason === null) return;
      ctx.queueStanding.set({ isRunning: false });
      ctx.log.error({ reason }, 'background jobs stopped; restarting them');
      const before: JobRunner = current;
      current = null;
      await before.stop(REPLACE_GRACE_MS);
      if (performance.now() - startedMs > STEADY_MS) pauseMs = FIRST_RESTART_MS;
      while (!current && !stopping.signal.aborted) {
        await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
        pauseMs = Math.min(pauseMs * 2, MAX_RESTART_MS);
        if (stopping.signal.aborted) return;
        current = await before
          .release()
          .then(start)
          .catch((err: unknown) => {
            ctx.log.warn({ err }, 'cannot restart background jobs yet');
            return null;
          });
      }
      ctx.queueStanding.restarted();
      ctx.queueStanding.set({ isRunning: current !== null });
    }
  };
  const supervised = supervise();

  return {
    async stop(gracefulMs) {
      const end = async (runner: JobRunner) => {
        await runner.stop(gracefulMs);
        await runner
          .release()
          .catch((err: unknown) =>
            ctx.log.warn({ err }, 'cannot release job locks; they are freed when this process ends'),
          );
      };
      stopping.abort();
      const now = current;
      if (now) await end(now);
      await supervised;
      // A successor that started while the worker began to stop.
      if (current && current !== now) await end(current);
      ctx.queueStanding.set({ isRunning: false });
    },
  };
}

/** Resolves with the reason once the runner has to be replaced; null when the worker stops. */
async function givenUp(
  ctx: RunnerContext & HasQueueStanding,
  runner: JobRunner,
  { jobNames, stopping }: { jobNames: readonly string[]; stopping: AbortSignal },
): Promise<string | null> {
  const ended = runner.ended.then((reason) => ({ reason }));
  for (;;) {
    const found = await Promise.race([ended, delay(CHECK_MS, null, { signal: stopping }).catch(() => null)]);
    if (stopping.aborted) return null;
    if (found) return found.reason;
    if (runner.isStuck()) return 'it does not look for jobs';
    // Unknown while the database is away: the runner then ends, or is stuck.
    const oldestDueS = await oldestDueSeconds(ctx.db, jobNames).catch(() => null);
    if (oldestDueS === null) continue;
    ctx.queueStanding.set({ oldestDueS });
    if (oldestDueS > 0) runner.requestRun();
    if (oldestDueS > OVERDUE_S && runner.isIdleFor(IDLE_MS))
      return `a job has been due for ${Math.round(oldestDueS)} s`;
  }
}
