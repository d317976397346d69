import { runChannelJob } from './channel-job.ts';
import type { LoadAnswer, LoadJob, LoadResult } from './load-jobs.ts';
import { runPaidJob } from './paid-job.ts';
import { runPlainJob } from './plain-job.ts';
import { runStreamJob } from './stream-job.ts';

/** The load generator: a process of its own, so that it and the server under test do not slow each other's event loop. */
process.on('message', async (job: LoadJob) => {
  let answer: LoadAnswer;
  try {
    answer = { result: await run(job) };
  } catch (error) {
    answer = { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
  process.send?.(answer);
});
process.on('disconnect', () => process.exit(0));
// Ctrl-C reaches the whole process group; the parent ends us in its order.
process.on('SIGINT', () => undefined);

function run(job: LoadJob): Promise<LoadResult> {
  if (job.kind === 'plain') return runPlainJob(job);
  if (job.kind === 'channel') return runChannelJob(job);
  return job.kind === 'paid' ? runPaidJob(job) : runStreamJob(job);
}
