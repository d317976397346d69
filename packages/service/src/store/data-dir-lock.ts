import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Held until `release` or until the process ends in any way. */
export interface DataDirLock {
  release(): Promise<void>;
}

/** SQLite databases that are no longer referenced are closed, and their locks with them. */
const held = new Set<DatabaseSync>();

/**
 * Locks `dataDir` for this process alone; a second process gets an error that names the holder. The lock is the kernel's, on the file
 * `service.lock`, held through SQLite because Node offers no file locks: it cannot become stale, and no pid is compared. No other code may
 * open that file: closing it would drop the lock.
 */
export async function lockDataDir(dataDir: string): Promise<DataDirLock> {
  await mkdir(dataDir, { recursive: true });
  const pidFile = join(dataDir, 'service.pid');
  const lock = new DatabaseSync(join(dataDir, 'service.lock'), { timeout: 0 });
  try {
    lock.exec('begin exclusive');
  } catch (cause) {
    lock.close();
    const pid = (await readFile(pidFile, 'utf8').catch(() => '')).trim() || 'unknown';
    throw new Error(`${dataDir} is in use by another service (process ${pid}); stop it or set another DATA_DIR`, {
      cause,
    });
  }
  held.add(lock);
  await writeFile(pidFile, `${process.pid}\n`);
  return {
    async release() {
      held.delete(lock);
      if (lock.isOpen) lock.close();
    },
  };
}
