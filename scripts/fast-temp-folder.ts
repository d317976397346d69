import { readFileSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

const MEMORY_DISK = '/dev/shm';
const GIB = 2 ** 30;
/** A run keeps less than 2 GiB of files at once, and its processes use another 3 GiB. */
const MIN_FREE_BYTES = 3 * GIB;
const MIN_MEMORY_BYTES = 6 * GIB;
const NAME = 'agent-network-tests-';

/**
 * A folder in memory for the files of a test run, where the machine has room for them: a database is made there in 50 ms, and on a disk in
 * up to a second. Undefined elsewhere, and where TMPDIR names a folder.
 */
export function fastTempFolder(): string | undefined {
  if (process.platform !== 'linux' || process.env.TMPDIR) return undefined;
  try {
    const { bavail, bsize } = statfsSync(MEMORY_DISK);
    const hasRoom = bavail * bsize >= MIN_FREE_BYTES && process.availableMemory() >= MIN_MEMORY_BYTES;
    return hasRoom && allowsPrograms() ? join(MEMORY_DISK, `${NAME}${process.pid}`) : undefined;
  } catch {
    return undefined;
  }
}

/** PostgreSQL runs from there when its user cannot read the project. */
function allowsPrograms(): boolean {
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
  const [, , type = '', options = ''] = mounts.find((line) => line.split(' ')[1] === MEMORY_DISK)?.split(' ') ?? [];
  return type === 'tmpfs' && !options.split(',').includes('noexec');
}

/** The folders of runs that were killed, among these names: they would keep their memory until the machine starts again. */
export const foldersOfDeadRuns = (names: readonly string[], isAlive: (pid: number) => boolean): string[] =>
  names
    .filter((name) => name.startsWith(NAME) && !isAlive(Number(name.slice(NAME.length))))
    .map((name) => join(MEMORY_DISK, name));
