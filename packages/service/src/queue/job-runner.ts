import { EventEmitter } from 'node:events';
import {
  type CronItem,
  parseCronItems,
  type Runner,
  run,
  type TaskList,
  type WorkerEvents,
  type WorkerPool,
} from 'graphile-worker';
import pg from 'pg';
import { connectionOptions, watchPool } from '../db/connection-pool.ts';
import type { HasDb } from '../db/database.ts';
import { graphileLog } from '../db/graphile-log.ts';
import { clientOn } from '../db/primary/database-hosts.ts';
import { endsWithin } from '../lib/concurrency/within.ts';
import type { Log } from '../lib/log/log.ts';
import type { Heartbeat } from './heartbeat.ts';
import type { JobHandlers, JobRun } from './job-types.ts';

/** Each worker polls by itself so often, in case that nobody nudges: NOTIFY and the supervisor of the worker do, sooner. */
const POLL_MS = 5_000;
/** Time after which a runner with a free place that has not looked for jobs counts as stuck. */
const STUCK_MS = 10_000;
const LAST_WORDS_MS = 500;
/** Maximum wait for graphile-worker to end; after it the runner is abandoned. */
const END_WAIT_MS = 2_000;

/** Workers hold none while they work: one listens, and two take and complete the jobs of all. graphile-worker warns below a worker each. */
const MIN_CONNECTIONS = 3;

export interface RunnerOptions {
  readonly concurrency: number;
  readonly cronItems: readonly CronItem[];
}

export type RunnerContext = HasDb & { readonly log: Log; readonly heartbeat: Heartbeat };

/** One run of graphile-worker. It ends for good when a job's completion cannot be written to the database. */
export interface JobRunner {
  /** Resolves with the reason once no more jobs are taken, even if graphile-worker's own shutdown never completes. */
  readonly ended: Promise<string>;
  /** Makes idle workers look for jobs now. */
  requestRun(): void;
  /** True if the runner has a free place and does not look for jobs. */
  isStuck(): boolean;
  /** True if the runner has a free place and has begun no job for this long. */
  isIdleFor(ms: number): boolean;
  /** Waits for running jobs, then aborts them, then hands them back. Resolves in bounded time even if something hangs. */
  stop(gracefulMs: number): Promise<void>;
  /** Frees the jobs that a stopped runner still has locked. Throws while the database is away. */
  release(): Promise<void>;
}

/** Starts running jobs over its own connections. */
export async function startJobRunner(
  ctx: RunnerContext,
  handlers: JobHandlers,
  { concurrency, cronItems }: RunnerOptions,
): Promise<JobRunner> {
  const { url, gate } = ctx.db;
  const max = Math.max(concurrency, MIN_CONNECTIONS);
  const pool = new pg.Pool({ ...connectionOptions(url), max, Client: clientOn(url) });
  watchPool(pool, { url, log: ctx.log, gate });
  const aborting = new AbortController();
  const watched = watchEvents(concurrency);
  const covered = new Map<WorkerPool, Promise<void>>();
  const cover: Cover = { heartbeat: ctx.heartbeat };
  const plugin = coveringPlugin(cover, covered);
  const taskList = toTaskList(handlers, ctx.log, aborting.signal);
  let runner: Runner;
  try {
    runner = await run({
      pgPool: pool,
      taskList,
      concurrency,
      parsedCronItems: parseCronItems([...cronItems]),
      events: watched.events,
      noHandleSignals: true,
      pollInterval: POLL_MS,
      logger: graphileLog(ctx.log),
      // Without batching, graphile-worker completes jobs in promises that nothing awaits: a lost connection would end the process.
      preset: { plugins: [plugin], worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
    });
  } catch (error) {
    void pool.end();
    throw error;
  }
  runner.promise.then(
    () => watched.end('it stopped'),
    (error: unknown) => watched.end(String(error)),
  );
  return {
    ended: watched.ended,
    requestRun() {
      for (const workerPool of covered.keys()) workerPool.nudge(concurrency);
    },
    isStuck: watched.isStuck,
    isIdleFor: watched.isIdleFor,
    async stop(gracefulMs) {
      await stopRunner(runner, [...covered.keys()], gracefulMs, aborting);
      await endsWithin(pool.end(), END_WAIT_MS);
      // graphile-worker keeps the options of every run for good: they must not keep what tasks and locks refer to.
      for (const name of Object.keys(taskList)) delete taskList[name];
      cover.heartbeat = null;
    },
    async release() {
      await Promise.all([...covered.keys()].map(({ id }) => ctx.heartbeat.releaseWorker(id)));
    },
  };
}

/** The heartbeat whose end frees job locks; null: the runner has stopped. */
interface Cover {
  heartbeat: Heartbeat | null;
}

/** Delays job locks until our death would free them. */
const coveringPlugin = (cover: Cover, covered: Map<WorkerPool, Promise<void>>): GraphileConfig.Plugin => ({
  name: 'CoverWorkerLocks',
  version: '1.0.0',
  worker: {
    hooks: {
      startWorker(_ctx, { worker: { workerPool } }) {
        const known = covered.get(workerPool) ?? cover.heartbeat?.coverWorker(workerPool.id) ?? Promise.resolve();
        covered.set(workerPool, known);
        return known;
      },
    },
  },
});

/** Follows a runner by its events: its promise stays pending when two job completions fail (graphile-worker 0.18). */
function watchEvents(concurrency: number) {
  const events: WorkerEvents = new EventEmitter();
  const ended = Promise.withResolvers<string>();
  let lookedMs = performance.now();
  let beganMs = performance.now();
  let running = 0;
  let failures = 0;
  const wentWell = () => {
    failures = 0;
    lookedMs = performance.now();
  };
  events.on('worker:getJob:empty', wentWell);
  events.on('job:start', () => {
    running += 1;
    beganMs = performance.now();
    wentWell();
  });
  events.on('job:complete', () => {
    running -= 1;
    lookedMs = performance.now();
  });
  events.on('worker:getJob:error', () => {
    failures += 1;
    // It keeps the outcome of its first read of the task list for good, even if the database failed during it.
    if (failures === 2 * concurrency) ended.resolve('it cannot look for jobs');
  });
  events.on('pool:fatalError', ({ error }) => ended.resolve(`the end of a job could not be stored: ${error}`));
  events.on('pool:gracefulShutdown', ({ message }) => ended.resolve(message));
  events.on('stop', () => ended.resolve('it stopped'));
  return {
    events,
    ended: ended.promise,
    end: ended.resolve,
    isIdleFor: (ms: number) => running < concurrency && performance.now() - beganMs > ms,
    isStuck: () => running < concurrency && performance.now() - lookedMs > STUCK_MS,
  };
}

/** Stops through the worker pools: `Runner.kill` of graphile-worker 0.18 does nothing once a stop is under way. */
async function stopRunner(
  runner: Runner,
  workerPools: readonly WorkerPool[],
  gracefulMs: number,
  aborting: AbortController,
): Promise<void> {
  // A stopping runner refuses a second stop; its pools then report the end.
  const graceful = runner.stop().catch(() => Promise.allSettled(workerPools.map((each) => each.promise)));
  if (await endsWithin(graceful, gracefulMs)) return;
  aborting.abort(new Error('background jobs stop'));
  if (await endsWithin(graceful, LAST_WORDS_MS)) return;
  const forced = workerPools.map((workerPool) => workerPool.forcefulShutdown('background jobs stop'));
  await endsWithin(Promise.allSettled(forced), END_WAIT_MS);
}

function toTaskList(handlers: JobHandlers, log: Log, signal: AbortSignal): TaskList {
  const entries = Object.entries(handlers as Record<string, (payload: unknown, run: JobRun) => Promise<void>>);
  return Object.fromEntries(
    entries.map(([name, handle]) => [
      name,
      (payload: unknown, { job }) =>
        handle(payload, {
          jobId: job.id,
          attempt: job.attempts,
          maxAttempts: job.max_attempts,
          signal,
          log: log.child({ job: name, jobId: job.id }),
        }),
    ]),
  ) as TaskList;
}
