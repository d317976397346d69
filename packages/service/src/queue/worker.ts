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
import { surviveConnectionLoss } from '../db/connection-pool.ts';
import type { HasDb } from '../db/database.ts';
import { graphileLog } from '../db/graphile-log.ts';
import type { Log } from '../lib/log.ts';
import type { Heartbeat } from './heartbeat.ts';
import type { JobHandlers, JobRun } from './job-types.ts';

/** How soon a job starts whose NOTIFY was lost, or whose time has come. */
const POLL_MS = 1_000;
const RESTART_MS = 1_000;
const LAST_WORDS_MS = 500;
/** The connection that listens, and one to finish jobs while every worker is busy. */
const SPARE_CONNECTIONS = 2;

export interface WorkerOptions {
  /** Jobs at once. */
  concurrency: number;
  cronItems?: readonly CronItem[];
}

export interface QueueWorker {
  /**
   * Takes no more jobs and waits for the running ones. After `gracefulMs` their signals are aborted, half a second later what
   * still runs is given back to the queue and counts as a failed attempt.
   */
  stop(gracefulMs: number): Promise<void>;
}

/**
 * Runs jobs until stopped. Needs the process's heartbeat: no job is locked before the locks would be freed by our death. If the
 * database goes away, the worker comes back with it.
 */
export async function startWorker(
  ctx: HasDb & { log: Log; heartbeat: Heartbeat },
  handlers: JobHandlers,
  { concurrency, cronItems = [] }: WorkerOptions,
): Promise<QueueWorker> {
  const aborting = new AbortController();
  const taskList = toTaskList(handlers, ctx.log, aborting.signal);
  const pool = new pg.Pool({ connectionString: ctx.db.url, max: concurrency + SPARE_CONNECTIONS, keepAlive: true });
  surviveConnectionLoss(pool, ctx.log);
  let stopping = false;
  const start = () => startRunner(ctx, pool, taskList, concurrency, cronItems);
  let current = await start();

  const supervise = async (): Promise<void> => {
    while (!stopping) {
      await current.runner.promise.catch((err: unknown) => ctx.log.error({ err }, 'the queue worker ended'));
      if (stopping) return;
      await delay(RESTART_MS);
      await releaseLocks(ctx, current)
        .then(async () => {
          if (!stopping) current = await start();
        })
        .catch((err: unknown) => ctx.log.warn({ err }, 'the queue worker is not back yet'));
    }
  };
  const supervised = supervise();

  return {
    async stop(gracefulMs) {
      stopping = true;
      await stopRunner(current, gracefulMs, aborting);
      await supervised;
      // A restart that was under way when we began to stop.
      await stopRunner(current, gracefulMs, aborting);
      await releaseLocks(ctx, current).catch((err: unknown) =>
        ctx.log.warn({ err }, 'jobs stay locked until we are gone'),
      );
      await pool.end();
    },
  };
}

interface RunningWorker {
  runner: Runner;
  /** Its pools of workers (one, in practice), which lock jobs under their ids. */
  workerPools(): WorkerPool[];
}

async function startRunner(
  { log, heartbeat }: { log: Log; heartbeat: Heartbeat },
  pool: pg.Pool,
  taskList: TaskList,
  concurrency: number,
  cronItems: readonly CronItem[],
): Promise<RunningWorker> {
  const covered = new Map<WorkerPool, Promise<void>>();
  const cover = (workerPool: WorkerPool): Promise<void> => {
    const known = covered.get(workerPool) ?? heartbeat.coverWorker(workerPool.id);
    covered.set(workerPool, known);
    return known;
  };
  const plugin: GraphileConfig.Plugin = {
    name: 'CoverWorkerLocks',
    version: '1.0.0',
    worker: { hooks: { startWorker: (_ctx, { worker }) => cover(worker.workerPool) } },
  };
  const events: WorkerEvents = new EventEmitter();
  const runner = await run({
    pgPool: pool,
    taskList,
    concurrency,
    parsedCronItems: parseCronItems([...cronItems]),
    events,
    noHandleSignals: true,
    pollInterval: POLL_MS,
    logger: graphileLog(log),
    // Without batching, graphile-worker ends jobs in promises that nobody awaits: a lost connection would end the process.
    preset: { plugins: [plugin], worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
  });
  endWhenStuck(runner, events, concurrency);
  return { runner, workerPools: () => [...covered.keys()] };
}

/**
 * graphile-worker keeps the outcome of its first look at the task list for good, also when the database went away under it.
 * A worker that fails to find jobs twice over is ended, and started anew by its supervisor.
 */
function endWhenStuck(runner: Runner, events: WorkerEvents, concurrency: number): void {
  let failures = 0;
  const wentWell = () => {
    failures = 0;
  };
  events.on('worker:getJob:empty', wentWell);
  events.on('job:start', wentWell);
  events.on('worker:getJob:error', () => {
    failures += 1;
    if (failures === 2 * concurrency) runner.stop('cannot look for jobs').catch(() => undefined);
  });
}

/** `Runner.kill` of graphile-worker 0.18 does nothing once a stop is under way, hence the way through its pools. */
async function stopRunner({ runner, workerPools }: RunningWorker, gracefulMs: number, aborting: AbortController) {
  const graceful = runner.stop().then(
    () => true,
    () => true,
  );
  if (await endsWithin(graceful, gracefulMs)) return;
  aborting.abort(new Error('the process is stopping'));
  if (await endsWithin(graceful, LAST_WORDS_MS)) return;
  await Promise.allSettled(workerPools().map((workerPool) => workerPool.forcefulShutdown('the process is stopping')));
}

async function endsWithin(work: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  const done = new AbortController();
  const late = delay(timeoutMs, false, { signal: done.signal }).catch(() => false);
  const inTime = await Promise.race([work.then(() => true), late]);
  done.abort();
  return inTime;
}

async function releaseLocks({ heartbeat }: { heartbeat: Heartbeat }, { workerPools }: RunningWorker): Promise<void> {
  await Promise.all(workerPools().map(({ id }) => heartbeat.releaseWorker(id)));
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
