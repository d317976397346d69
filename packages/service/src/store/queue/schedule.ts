import { setTimeout as delay } from 'node:timers/promises';
import { endsWithin } from '../../lib/concurrency/within.ts';
import { invariant } from '../../lib/invariant.ts';
import type { Metrics } from '../../lib/metrics.ts';
import type { Log } from '../../lib/telemetry/log.ts';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import type { Store } from '../database.ts';
import { createDueWork, type WorkCondition, type WorkParameters } from './due-work.ts';
import { type Claimed, claimRecurring, type GivenBack, giveBackRecurring } from './recurring-store.ts';

export interface Repeating {
  /** Stops and waits for a run in progress. */
  stop(): Promise<void>;
}

export type RecurringWork = () => Promise<unknown>;

export interface RecurringOptions {
  /** Without it, the work runs at every interval. */
  readonly hasWork?: WorkCondition;
  /** True if the first run of all, on a new database, may wait for an interval. */
  readonly isFirstLater?: boolean;
}

/** The recurring jobs of a process. Those that are due at the same time share their statements. A run that throws is logged and counted. */
export interface Schedule extends Repeating {
  /**
   * Runs `work` every `intervalMs` in one process of the node at a time: a row moves from process to process by compare-and-set on the
   * database's clock. If a process dies during a run, the next one is due after max(`intervalMs`, 10 s).
   */
  every(name: string, intervalMs: number, work: RecurringWork, options?: RecurringOptions): void;
  /** Runs `work` every `intervalMs` in this process, independent of the others. */
  here(name: string, intervalMs: number, work: RecurringWork, options?: Pick<RecurringOptions, 'hasWork'>): void;
}

interface Job extends Required<Pick<RecurringOptions, 'isFirstLater'>> {
  readonly name: string;
  readonly intervalMs: number;
  readonly work: RecurringWork;
  readonly hasWork: WorkCondition | null;
  readonly isShared: boolean;
  nextMs: number;
  isRunning: boolean;
}

interface Due {
  readonly job: Job;
  /** Due time that this process set; null: it is not shared with other processes. */
  readonly claimed: string | null;
}

/** Minimum lock of a run before another process may start the next one: longer runs may overlap. */
const MIN_HOLD_MS = 10_000;
/** Share of its interval by which a job may come early, together with others. */
const EARLY = 1 / 20;
/** Maximum wait of a run for the one before it, so that short ones share a connection and long ones do not delay the rest. */
const TURN_MS = 20;
const MAX_SLEEP_MS = 60_000;
/** Time in which finished runs are given back together. */
const GIVE_BACK_MS = 50;

const nextOf = (jobs: readonly Job[]) =>
  Math.min(...jobs.map(({ isRunning, nextMs }) => (isRunning ? Number.POSITIVE_INFINITY : nextMs)));
const isAlmostDue = ({ isRunning, nextMs, intervalMs }: Job, nowMs: number) =>
  !isRunning && nextMs <= nowMs + intervalMs * EARLY;
const holdOf = ({ intervalMs }: Job) => Math.max(intervalMs, MIN_HOLD_MS);

/** `given`: parameters of the conditions. Add all jobs at once, before the first round. */
export function createSchedule(ctx: Pick<Store, 'db'> & Telemetry, given: () => WorkParameters): Schedule {
  const jobs: Job[] = [];
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  const dueWork = createDueWork(ctx, given, jobs);
  const returns = createReturns(ctx);
  let wake = new AbortController();
  let hasBegun = false;
  let stopped: Promise<void> | null = null;

  function run({ job, claimed }: Due, baseMs: number): Promise<void> {
    job.isRunning = true;
    const ended = (async () => job.work())()
      .catch((err: unknown) => recordFailure(ctx, job.name, err))
      .then(() => {
        job.isRunning = false;
        const nowMs = performance.now();
        job.nextMs = Math.max(baseMs + job.intervalMs, job.isShared ? nowMs : nowMs + job.intervalMs / 2);
        if (claimed !== null) returns.add(job, claimed, holdOf(job) - job.intervalMs);
        running.delete(ended);
        wake.abort();
      });
    running.add(ended);
    return ended;
  }

  async function round(): Promise<void> {
    const baseMs = performance.now();
    const asked = jobs.filter((job) => isAlmostDue(job, baseMs));
    for (const job of asked) job.nextMs = baseMs + job.intervalMs;
    const found = await dueWork.find(asked);
    const may = asked.filter(({ name }) => found.has(name));
    const due = await claimDue(ctx, may, baseMs);
    for (const each of due.sort((a, b) => a.job.intervalMs - b.job.intervalMs)) {
      if (!stopping.signal.aborted) await endsWithin(run(each, baseMs), TURN_MS);
      else if (each.claimed !== null) returns.add(each.job, each.claimed, holdOf(each.job));
    }
  }

  async function loop(): Promise<void> {
    // Jobs added right after the creation belong to the first round.
    await Promise.resolve();
    hasBegun = true;
    while (!stopping.signal.aborted) {
      const pauseMs = nextOf(jobs) - performance.now();
      wake = new AbortController();
      if (pauseMs > 0) await sleep(Math.min(pauseMs, MAX_SLEEP_MS), [wake.signal, stopping.signal]);
      // The jobs of a failed round are due again after their interval.
      else await round().catch((err: unknown) => ctx.log.error({ err }, 'a round of recurring jobs failed'));
    }
  }

  const looping = loop();
  const { metrics } = ctx;
  return {
    every: adderOf(jobs, { metrics, isShared: true, hasBegun: () => hasBegun }),
    here: adderOf(jobs, { metrics, isShared: false, hasBegun: () => hasBegun }),
    stop() {
      stopped ??= (async () => {
        stopping.abort();
        await looping;
        await Promise.all(running);
        await returns.flush();
      })();
      return stopped;
    },
  };
}

function recordFailure({ log, metrics }: Telemetry, name: string, err: unknown): void {
  metrics.recurringFailures.inc({ name });
  log.error({ err, recurring: name }, 'recurring job failed');
}

const adderOf =
  (
    jobs: Job[],
    { metrics, isShared, hasBegun }: { metrics: Metrics; isShared: boolean; hasBegun: () => boolean },
  ): Schedule['every'] =>
  (name, intervalMs, work, { hasWork, isFirstLater = false } = {}) => {
    invariant(!hasBegun(), 'a recurring job was added to a schedule that runs');
    const job = { name, intervalMs, work, hasWork: hasWork ?? null, isFirstLater, isShared };
    jobs.push({ ...job, nextMs: performance.now(), isRunning: false });
    metrics.recurringFailures.inc({ name }, 0);
  };

const sleep = (ms: number, signals: AbortSignal[]): Promise<void> =>
  delay(ms, undefined, { signal: AbortSignal.any(signals) }).catch(() => undefined);

/** Claims the shared ones, and says when those are due that it did not get. */
async function claimDue(
  { db, log }: Pick<Store, 'db'> & { log: Log },
  jobs: readonly Job[],
  baseMs: number,
): Promise<Due[]> {
  const shared = jobs.filter(({ isShared }) => isShared);
  const own = jobs.filter(({ isShared }) => !isShared).map((job) => ({ job, claimed: null }));
  if (shared.length === 0) return own;
  const wanted = shared.map((job) => ({
    name: job.name,
    holdMs: holdOf(job),
    earlyMs: job.intervalMs * EARLY,
    firstMs: job.isFirstLater ? job.intervalMs : 0,
  }));
  const claims = await claimRecurring(db, wanted).catch((err: unknown) => {
    log.warn({ err }, 'recurring jobs wait for the database');
    return [];
  });
  const byName = new Map<string, Claimed>(claims.map((claim) => [claim.name, claim]));
  const got = shared.flatMap((job): Due[] => {
    const claim = byName.get(job.name);
    if (claim?.due) return [{ job, claimed: claim.due }];
    // Claimed by another process at this moment: it is due again after an interval, or sooner.
    const untilMs = claim && claim.untilMs > 0 ? claim.untilMs : job.intervalMs;
    job.nextMs = Math.min(baseMs + job.intervalMs, performance.now() + Math.max(untilMs, 1));
    return [];
  });
  return [...got, ...own];
}

/** Releases runs that finished at about the same time by one statement, well before they are due again. */
function createReturns({ db, log }: Pick<Store, 'db'> & { log: Log }) {
  let waiting: GivenBack[] = [];
  let timer: NodeJS.Timeout | null = null;
  let flushed: Promise<void> = Promise.resolve();

  async function flush(): Promise<void> {
    if (timer) clearTimeout(timer);
    timer = null;
    const given = waiting.filter(({ earlierMs }) => earlierMs > 0);
    waiting = [];
    if (given.length === 0) return flushed;
    const giving = giveBackRecurring(db, given).catch((err: unknown) =>
      log.warn({ err }, 'could not release recurring jobs; they run again when their lease expires'),
    );
    flushed = Promise.all([flushed, giving]).then(() => undefined);
    return flushed;
  }

  return {
    flush,
    add({ name, intervalMs }: Job, due: string, earlierMs: number): void {
      waiting.push({ name, due, earlierMs });
      timer ??= setTimeout(() => void flush(), Math.min(GIVE_BACK_MS, intervalMs / 4));
    },
  };
}
