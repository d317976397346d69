import { Worker } from 'node:worker_threads';
import { createSemaphore } from './semaphore.ts';

/** A worker thread that does one job at a time. */
export interface JobThread<Job, Result> {
  /** Throws JobTimeoutError when the job takes too long, and any error that ends the thread. */
  run(job: Job): Promise<Result>;
  /** False: the next job has to wait for the start of a thread. */
  isStarted(): boolean;
}

export class JobTimeoutError extends Error {}

export interface JobThreadLimits {
  /** Processor time of a job, with the start of the thread. */
  readonly maxMs: number;
  /** Time without a job after which the thread ends. */
  readonly idleMs: number;
  readonly maxHeapMb?: number;
}

/**
 * A thread that is started when needed, ended when idle, and replaced when it fails or takes too long. It does not keep the process alive.
 * The script answers each message with one.
 */
export function createJobThread<Job, Result>(script: URL, limits: JobThreadLimits): JobThread<Job, Result> {
  let worker: Worker | null = null;
  let hasAnswered = false;
  let idle: NodeJS.Timeout | undefined;
  const jobs = createSemaphore();

  const end = () => {
    void worker?.terminate();
    worker = null;
  };

  function start(): Worker {
    const { maxHeapMb } = limits;
    const resourceLimits = maxHeapMb === undefined ? {} : { maxOldGenerationSizeMb: maxHeapMb };
    const started = new Worker(script, { resourceLimits });
    hasAnswered = false;
    started.unref();
    // One that dies without a job is not given the next.
    started.once('exit', () => {
      if (worker === started) worker = null;
    });
    started.on('error', () => undefined);
    return started;
  }

  async function runNow(job: Job): Promise<Result> {
    clearTimeout(idle);
    worker ??= start();
    const thread = worker;
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const timer = watchTime(thread, limits.maxMs, () => reject(new JobTimeoutError('the job takes too long')));
    const onExit = () => reject(new Error('the thread has ended'));
    thread.once('message', resolve).once('error', reject).once('exit', onExit);
    thread.postMessage(job);
    try {
      const result = await promise;
      hasAnswered = true;
      idle = setTimeout(end, limits.idleMs).unref();
      return result;
    } catch (error) {
      end();
      throw error;
    } finally {
      clearInterval(timer);
      thread.off('message', resolve).off('error', reject).off('exit', onExit);
    }
  }

  return { run: (job) => jobs.run(() => runNow(job)), isStarted: () => worker !== null && hasAnswered };
}

/** Multiple of a job's processor time that it may take where other programs have the processors. */
const MAX_SHARE = 6;

/**
 * Calls back once the thread has used this much processor time from now on, or has waited for it for very long. Cancel it with
 * `clearInterval`.
 */
function watchTime(worker: Worker, maxMs: number, onOver: () => void): NodeJS.Timeout {
  const startMs = performance.now();
  const usedMs = () => worker.cpuUsage().then(({ user, system }) => (user + system) / 1000);
  // A thread that is only starting has used none.
  const before = usedMs().catch(() => 0);
  const look = async () => {
    if (performance.now() - startMs >= MAX_SHARE * maxMs) return onOver();
    const used = await usedMs().catch(() => 0);
    if (used - (await before) >= maxMs) onOver();
  };
  return setInterval(() => void look(), maxMs / 4).unref();
}
