import { openDatabase } from '../../src/db/database.ts';
import { createLog } from '../../src/lib/log/log.ts';
import { createMetrics } from '../../src/lib/metrics.ts';
import { startHeartbeat } from '../../src/queue/heartbeat.ts';
import type { JobHandlers } from '../../src/queue/job-types.ts';
import { createQueueStanding } from '../../src/queue/queue-standing.ts';
import { startWorker } from '../../src/queue/worker.ts';

/** A process that takes `test.hang` and never ends it; tells its parent when it has it. Killed by its parent. */
const url = process.argv[2];
if (url === undefined) throw new Error('usage: worker-child.ts <database url>');
const log = createLog({ level: 'warn', destination: process.stderr });
const db = openDatabase(url, { log });
const heartbeat = await startHeartbeat({ db, log }, { self: { label: 'child' } });
const handlers = {
  'test.hang': async () => {
    process.send?.({ processId: heartbeat.processId() });
    await new Promise(() => undefined);
  },
} as unknown as JobHandlers;
await startWorker({ db, log, heartbeat, queueStanding: createQueueStanding({ metrics: createMetrics() }) }, handlers, {
  concurrency: 1,
});
