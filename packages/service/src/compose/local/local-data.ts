import { mkdir } from 'node:fs/promises';
import type { Config } from '../../config/config.ts';
import type { StopStep } from '../../lib/process/graceful-stop.ts';
import type { Log } from '../../lib/telemetry/log.ts';
import { type StartProgress, silentProgress } from '../../lib/telemetry/start-progress.ts';
import { lockDataDir } from '../../store/data-dir-lock.ts';
import { startEmbeddedPostgres } from '../../store/embedded-postgres.ts';
import { startSteps } from '../start-steps.ts';

/** DATA_DIR, locked for this process, and the database in it. */
export interface LocalData {
  readonly databaseUrl: string;
}

interface DataNeeds {
  readonly config: Pick<Config, 'dataDir' | 'databaseUrl'>;
  readonly log: Log;
  readonly progress?: StartProgress;
}

/**
 * Locks DATA_DIR and starts its database, unless DATABASE_URL names another; `stops` gets how both are given up. Needs little of the
 * program, so that the database can start while the rest is loaded. Throws when another process has the folder.
 */
export async function openLocalData(
  { config, log, progress = silentProgress }: DataNeeds,
  stops: StopStep[],
): Promise<LocalData> {
  const { dataDir } = config;
  await mkdir(dataDir, { recursive: true });
  const lock = await lockDataDir(dataDir);
  stops.push({ name: 'data folder', stop: () => lock.release() });
  if (config.databaseUrl !== null) return { databaseUrl: config.databaseUrl };
  const postgres = await progress.step(startSteps.database, () => startEmbeddedPostgres({ dataDir, log }));
  stops.push({ name: 'PostgreSQL', stop: () => postgres.stop() });
  return { databaseUrl: postgres.url };
}
