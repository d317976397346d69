import { readlink, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Removes a DATA_DIR and, where its database had to be placed elsewhere (see postgres-home.ts), that folder too. */
export async function removePostgresDataDir(dataDir: string): Promise<void> {
  const target = await readlink(join(dataDir, 'postgres')).catch(() => undefined);
  if (target !== undefined) await rm(dirname(target), { recursive: true, force: true });
  await rm(dataDir, { recursive: true, force: true });
}
