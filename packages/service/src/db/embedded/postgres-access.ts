import { randomBytes } from 'node:crypto';
import { open, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Access to the embedded server: its role's password and its last port. */
export interface PostgresAccess {
  password: string;
  port?: number;
}

/** Reads `dataDir/postgres.json`, or creates a password and stores it (0600) before any database uses it. */
export async function readAccess(dataDir: string): Promise<PostgresAccess> {
  const stored = await readFile(join(dataDir, 'postgres.json'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (stored !== undefined) return JSON.parse(stored) as PostgresAccess;
  const access = { password: randomBytes(24).toString('base64url') };
  await writeAccess(dataDir, access);
  return access;
}

/** Replaces the file atomically and syncs it to disk: a lost password would lock us out of the data. */
export async function writeAccess(dataDir: string, access: PostgresAccess): Promise<void> {
  const path = join(dataDir, 'postgres.json');
  const file = await open(`${path}.new`, 'w', 0o600);
  try {
    // Root may run once with a data folder of another owner.
    const owner = await stat(dataDir);
    await file.chown(owner.uid, owner.gid);
    await file.writeFile(`${JSON.stringify(access)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
}
