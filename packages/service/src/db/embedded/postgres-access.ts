import { randomBytes } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../lib/replace-file.ts';

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

/** Replaces the file: a lost password would lock us out of the data. Root may run once with a data folder of another owner. */
export async function writeAccess(dataDir: string, access: PostgresAccess): Promise<void> {
  const owner = await stat(dataDir);
  await replaceFile(join(dataDir, 'postgres.json'), `${JSON.stringify(access)}\n`, { owner });
}
