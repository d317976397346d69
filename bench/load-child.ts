import type { LoadAnswer, LoadJob } from './load-jobs.ts';
import { runPaidJob } from './paid-job.ts';
import { runPlainJob } from './plain-job.ts';

/** The load generator: a process of its own, so that it and the server under test do not slow each other's event loop. */
process.on('message', async (job: LoadJob) => {
  let answer: LoadAnswer;
  try {
    answer = { result: await (job.kind === 'plain' ? runPlainJob(job) : runPaidJob(job)) };
  } catch (error) {
    answer = { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
  process.send?.(answer);
});
process.on('disconnect', () => process.exit(0));
// Ctrl-C reaches the whole process group; the parent ends us in its order.
process.on('SIGINT', () => undefined);
