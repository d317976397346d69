import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
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
import { connectionOptions, surviveConnectionLoss } from '../db/connection-pool.ts';
import type { HasDb } from '../db/database.ts';
import { graphileLog } from '../db/graphile-log.ts';
import { watchSilence } from '../db/silence-watch.ts';
import type { Log } from '../lib/log/log.ts';
import type { Heartbeat } from './heartbeat.ts';
import type { JobHandlers, JobRun } from './job-types.ts';

/** Maximum start delay of a job whose NOTIFY was lost, or whose time has come. */
const POLL_MS = 1_000;
/** A runner with a free place that has not looked for jobs for so long never will. */
const STUCK_MS = 10_000;
const LAST_WORDS_MS = 500;
/** Maximum wait for graphile-worker to end; after it the runner is abandoned. */
const END_WAIT_MS = 2_000;
/** The connection that listens, and one to finish jobs while every worker is busy. */
const SPARE_CONNECTIONS = 2;

export interface RunnerOptions {
  readonly concurrency: number;
  readonly cronItems: readonly CronItem[];
}

export type RunnerContext = HasDb & { readonly log: Log; readonly heartbeat: Heartbeat };

/** One life of graphile-worker. It ends for good when a job's end cannot be told to the database. */
export interface JobRunner {
  /** Resolves with the reason once no more jobs are taken, also when graphile-worker never gets to the end of its own shutdown. */
  readonly ended: Promise<string>;
  /** True if the runner has a free place and does not look for jobs. */
  isStuck(): boolean;
  /** True if the runner has a free place and has begun no job for this long. */
  isIdleFor(ms: number): boolean;
  /** Waits for running jobs, then aborts them, then gives them back. Resolves in bounded time whatever hangs. */
  stop(gracefulMs: number): Promise<void>;
  /** Once it is stopped: frees the jobs that it still holds locked. Throws while the database is away. */
  release(): Promise<void>;
}

/** Starts to run jobs, over connections of its own. */
export async function startJobRunner(
  ctx: RunnerContext,
  handlers: JobHandlers,
  { concurrency, cronItems }: RunnerOptions,
): Promise<JobRunner> {
  const pool = new pg.Pool({ ...connectionOptions(ctx.db.url), max: concurrency + SPARE_CONNECTIONS });
  surviveConnectionLoss(pool, ctx.log);
  watchSilence(pool, { url: ctx.db.url, log: ctx.log });
  const aborting = new AbortController();
  const watched = watchEvents(concurrency);
  const covered = new Map<WorkerPool, Promise<void>>();
  const plugin = coveringPlugin(ctx.heartbeat, covered);
  let runner: Runner;
  try {
    runner = await run({
      pgPool: pool,
      taskList: toTaskList(handlers, ctx.log, aborting.signal),
      concurrency,
      parsedCronItems: parseCronItems([...cronItems]),
      events: watched.events,
      noHandleSignals: true,
      pollInterval: POLL_MS,
      logger: graphileLog(ctx.log),
      // Without batching, graphile-worker ends jobs in promises that nobody awaits: a lost connection would end the process.
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
    isStuck: watched.isStuck,
    isIdleFor: watched.isIdleFor,
    async stop(gracefulMs) {
      await stopRunner(runner, [...covered.keys()], gracefulMs, aborting);
      await endsWithin(pool.end(), END_WAIT_MS);
    },
    async release() {
      await Promise.all([...covered.keys()].map(({ id }) => ctx.heartbeat.releaseWorker(id)));
    },
  };
}

/** No job is locked before the locks would be freed by our death. */
const coveringPlugin = (heartbeat: Heartbeat, covered: Map<WorkerPool, Promise<void>>): GraphileConfig.Plugin => ({
  name: 'CoverWorkerLocks',
  version: '1.0.0',
  worker: {
    hooks: {
      startWorker(_ctx, { worker: { workerPool } }) {
        const known = covered.get(workerPool) ?? heartbeat.coverWorker(workerPool.id);
        covered.set(workerPool, known);
        return known;
      },
    },
  },
});

/** Follows a runner by its events: its promise stays open when two ends of jobs fail to be told (graphile-worker 0.18). */
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
    // It keeps the outcome of its first look at the task list for good, also when the database went away under it.
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

/** `Runner.kill` of graphile-worker 0.18 does nothing once a stop is under way, hence the way through its pools. */
async function stopRunner(
  runner: Runner,
  workerPools: readonly WorkerPool[],
  gracefulMs: number,
  aborting: AbortController,
): Promise<void> {
  // A runner that stops already refuses to be stopped again; its pools then tell when they are done.
  const graceful = runner.stop().catch(() => Promise.allSettled(workerPools.map((each) => each.promise)));
  if (await endsWithin(graceful, gracefulMs)) return;
  aborting.abort(new Error('background jobs stop'));
  if (await endsWithin(graceful, LAST_WORDS_MS)) return;
  const forced = workerPools.map((workerPool) => workerPool.forcefulShutdown('background jobs stop'));
  await endsWithin(Promise.allSettled(forced), END_WAIT_MS);
}

async function endsWithin(work: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  const done = new AbortController();
  const late = delay(timeoutMs, false, { signal: done.signal }).catch(() => false);
  const inTime = await Promise.race([work.then(() => true), late]);
  done.abort();
  return inTime;
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
