import { createLog } from '../../src/lib/telemetry/log.ts';
import { lockDataDir } from '../../src/store/data-dir-lock.ts';
import { startEmbeddedPostgres } from '../../src/store/embedded-postgres.ts';

/** Holds a DATA_DIR with its PostgreSQL until its parent kills it. */
const dataDir = process.argv[2];
if (dataDir === undefined) throw new Error('usage: postgres-child.ts <data dir>');
await lockDataDir(dataDir);
const postgres = await startEmbeddedPostgres({
  dataDir,
  log: createLog({ level: 'warn', destination: process.stderr }),
});
process.send?.({ url: postgres.url });
setInterval(() => undefined, 60_000);
