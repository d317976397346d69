import { createHash } from 'node:crypto';
import { chmod, lstat, mkdir, readlink, realpath, rename, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Log } from '../../lib/telemetry/log.ts';
import { canRun, type PostgresUser } from './postgres-user.ts';

/**
 * Returns the folder with the child `postgres`, which has the database files: `dataDir` itself or, if the PostgreSQL user cannot enter it,
 * a separate folder that the symlink `dataDir/postgres` points to.
 */
export async function placePostgresHome(dataDir: string, user: PostgresUser, log: Log): Promise<string> {
  const inside = join(dataDir, 'postgres');
  const present = await lstat(inside).catch(() => undefined);
  if (present?.isSymbolicLink()) return dirname(await symlinkTarget(inside));
  if (user === undefined || (await canRun(user, 'sh', ['-c', 'cd "$0"', dataDir]))) return dataDir;
  const home = await makeReachableHome(dataDir);
  const outside = join(home, 'postgres');
  await setAside(outside, log);
  if (present !== undefined) await rename(inside, outside);
  await symlink(outside, inside);
  return home;
}

/** Moves data aside that no DATA_DIR points to: someone deleted the DATA_DIR to start over. The node does not delete it. */
async function setAside(path: string, log: Log): Promise<void> {
  if ((await lstat(path).catch(() => undefined)) === undefined) return;
  const kept = `${path}.left-${Date.now()}`;
  await rename(path, kept);
  log.warn({ kept }, 'moved the database of a deleted DATA_DIR aside');
}

async function symlinkTarget(link: string): Promise<string> {
  const target = await readlink(link);
  await mkdir(dirname(target), { recursive: true, mode: 0o755 });
  return target;
}

async function makeReachableHome(dataDir: string): Promise<string> {
  const name = `agent-network-${createHash('sha256')
    .update(await realpath(dataDir))
    .digest('hex')
    .slice(0, 16)}`;
  const failures: unknown[] = [];
  for (const parent of ['/var/lib', tmpdir()]) {
    try {
      return await claimFolder(join(parent, name));
    } catch (error) {
      failures.push(error);
    }
  }
  throw new AggregateError(failures, `PostgreSQL's user can reach no folder for its files; move ${dataDir}`);
}

/**
 * Creates the folder, or requires that it belongs to this user: in someone else's folder under the guessable name the owner could read or
 * swap the database.
 */
async function claimFolder(path: string): Promise<string> {
  await mkdir(path, { mode: 0o755 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  const link = await lstat(path);
  if (!link.isDirectory() || link.uid !== process.getuid?.()) throw new Error(`${path} belongs to someone else`);
  await chmod(path, 0o755);
  return path;
}
