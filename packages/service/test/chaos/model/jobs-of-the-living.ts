import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../../src/db/database.ts';
import { jobHandlers } from '../../../src/jobs.ts';
import { silentLog } from '../../../src/lib/log/log.ts';
import { createMetrics } from '../../../src/lib/metrics.ts';
import { startHeartbeat } from '../../../src/queue/heartbeat.ts';
import type { JobHandlers } from '../../../src/queue/job-types.ts';
import { createQueueStanding } from '../../../src/queue/queue-standing.ts';
import { startWorker } from '../../../src/queue/worker.ts';
import type { MortalNode } from './mortal-node.ts';

/** Jobs are run by whichever process lives; one whose process dies over it is run by the next. */
export async function startJobs(db: Database, current: () => MortalNode): Promise<{ stop(): Promise<void> }> {
  const log = silentLog;
  const heartbeat = await startHeartbeat({ db, log }, { self: { label: 'jobs' } });
  const stopping = new AbortController();
  const handlers: JobHandlers = {
    async 'settle-payment'(payload, run) {
      for (let life = current(); !stopping.signal.aborted; life = current()) {
        const done = jobHandlers(life.ctx)['settle-payment'](payload, run);
        await done.catch((error) => life.signal.aborted || Promise.reject(error));
        if (!life.signal.aborted) return;
        while (current() === life && !stopping.signal.aborted) await sleep(5);
      }
    },
  };
  const worker = await startWorker(
    { db, log, heartbeat, queueStanding: createQueueStanding({ metrics: createMetrics() }) },
    handlers,
    { concurrency: 2 },
  );
  return {
    async stop() {
      stopping.abort();
      await worker.stop(500);
      await heartbeat.stop();
    },
  };
}
