import { readlink, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** A server that was killed may still be writing its last files. */
const removal = { recursive: true, force: true, maxRetries: 20, retryDelay: 50 };

/** Removes a DATA_DIR and, where its database had to be placed elsewhere (see postgres-home.ts), that folder too. */
export async function removePostgresDataDir(dataDir: string): Promise<void> {
  const target = await readlink(join(dataDir, 'postgres')).catch(() => undefined);
  if (target !== undefined) await rm(dirname(target), removal);
  await rm(dataDir, removal);
}
