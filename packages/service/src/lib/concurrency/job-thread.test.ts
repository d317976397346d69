import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { createJobThread, JobTimeoutError } from './job-thread.ts';

/** A thread whose jobs wait for so long, or keep the processor busy for so long. */
async function newThread(maxMs: number) {
  const folder = await mkdtemp(join(tmpdir(), 'job-thread-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const script = join(folder, 'worker.mjs');
  await writeFile(
    script,
    `import { parentPort, threadId } from 'node:worker_threads';
     parentPort.on('message', ({ waitMs = 0, busyMs = 0, endsAfter = null }) => {
       Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitMs);
       const usedMs = () => { const { user, system } = process.threadCpuUsage(); return (user + system) / 1000; };
       for (const startMs = usedMs(); usedMs() - startMs < busyMs; );
       parentPort.postMessage(threadId);
       if (endsAfter === 'exit') setTimeout(() => process.exit());
       if (endsAfter === 'error') setTimeout(() => { throw new Error('it fails without a job'); });
     });`,
  );
  return createJobThread<{ waitMs?: number; busyMs?: number; endsAfter?: 'exit' | 'error' }, number>(
    pathToFileURL(script),
    {
      maxMs,
      idleMs: 60_000,
    },
  );
}

it('a job has its processor time, however long it waits for a processor', async () => {
  const thread = await newThread(400);
  const first = await thread.run({});
  expect(await thread.run({ waitMs: 1000 })).toBe(first);
  expect(await thread.run({ busyMs: 100 })).toBe(first);
});

it('a job that takes more is ended with its thread, and one that never ends as well; the next has a new thread', async () => {
  const thread = await newThread(400);
  const first = await thread.run({});
  for (const job of [{ busyMs: 60_000 }, { waitMs: 60_000 }])
    await expect(thread.run(job)).rejects.toBeInstanceOf(JobTimeoutError);
  expect(await thread.run({})).not.toBe(first);
});

it.each(['exit', 'error'] as const)('a thread that ends without a job (%s) is replaced', async (endsAfter) => {
  const thread = await newThread(400);
  const running = thread.run({ endsAfter, waitMs: 20 });
  await new Promise((resolve) => setImmediate(resolve));
  expect(thread.isStarted()).toBe(false);
  const first = await running;
  await expect.poll(thread.isStarted).toBe(false);
  expect(await thread.run({})).not.toBe(first);
});
