import { randomUUID } from 'node:crypto';
import { link, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { ChannelStorage } from './channel-storage.ts';

/** The books of channels in one JSON file. It is held until `close`, or until the process ends. */
export interface ChannelFile extends ChannelStorage {
  close(): Promise<void>;
}

const code = (error: unknown): unknown => (error as NodeJS.ErrnoException).code;

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return code(error) === 'EPERM';
  }
}

const heldHere = new Set<string>();

/** Moves away the lock of a process that is gone; puts back a lock that another process took since. */
async function removeDeadLock(lock: string, seen: string): Promise<void> {
  const aside = `${lock}.${randomUUID()}`;
  try {
    await rename(lock, aside);
    if ((await readFile(aside, 'utf8')) !== seen) await link(aside, lock);
  } catch (error) {
    if (code(error) !== 'ENOENT') throw error;
  }
  await rm(aside, { force: true });
}

/** Takes the lock file, or throws: two processes would sign for one channel without knowing of each other. */
async function takeLock(path: string): Promise<string> {
  const lock = `${path}.lock`;
  const token = `${process.pid} ${randomUUID()}`;
  const own = `${lock}.${randomUUID()}`;
  await writeSynced(own, token);
  try {
    for (let attempt = 0; ; attempt += 1) {
      try {
        await link(own, lock);
        return token;
      } catch (error) {
        if (code(error) !== 'EEXIST') throw error;
      }
      const seen = await readFile(lock, 'utf8').catch(() => '');
      const pid = Number(seen.split(' ')[0]);
      const isHeld = pid === process.pid ? heldHere.has(path) : seen !== '' && isAlive(pid);
      if (isHeld || attempt > 2)
        throw new Error(`${path} is in use by process ${pid}; when there is none, remove ${lock}`);
      await removeDeadLock(lock, seen);
    }
  } finally {
    await rm(own, { force: true });
  }
}

async function writeSynced(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Replaces the file as a whole: after a crash or a power cut it is the old one or the new one. */
async function replaceFile(path: string, text: string): Promise<void> {
  const next = `${path}.${randomUUID()}`;
  try {
    await writeSynced(next, text);
    await rename(next, path);
  } catch (error) {
    await rm(next, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Errors of file systems that cannot sync a folder, and of Windows, which opens none. */
const CANNOT_SYNC: readonly unknown[] = ['EACCES', 'EBADF', 'EINVAL', 'EISDIR', 'ENOTSUP', 'EPERM'];

async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, 'r');
    await folder.sync().finally(() => folder.close());
  } catch (error) {
    if (!CANNOT_SYNC.includes(code(error))) throw error;
  }
}

async function readEntries(path: string): Promise<Map<string, string>> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (code(error) === 'ENOENT') return '{}';
    throw error;
  });
  return new Map(Object.entries(JSON.parse(text) as Record<string, string>));
}

/**
 * Opens the file in which a payer keeps its channels over restarts. Throws when another process holds it, and when it cannot be
 * read: lost books are no empty books.
 */
export async function openChannelFile(file: string): Promise<ChannelFile> {
  const path = resolve(file);
  const lock = `${path}.lock`;
  const token = await takeLock(path);
  heldHere.add(path);
  const release = async () => {
    heldHere.delete(path);
    if ((await readFile(lock, 'utf8').catch(() => '')) === token) await rm(lock, { force: true });
  };
  const entries = await readEntries(path).catch(async (error: unknown) => {
    await release();
    throw error;
  });
  let lastWrite: Promise<unknown> = Promise.resolve();
  const write = async () => {
    if ((await readFile(lock, 'utf8').catch(() => '')) !== token)
      throw new Error(`${path} was taken over by another process`);
    await replaceFile(path, JSON.stringify(Object.fromEntries(entries), null, 1));
  };
  return {
    get: async (key) => entries.get(key) ?? null,
    keys: async () => [...entries.keys()],
    set(key, value) {
      const done = lastWrite.then(() => {
        entries.set(key, value);
        return write();
      });
      lastWrite = done.catch(() => undefined);
      return done;
    },
    close: () => lastWrite.then(release),
  };
}
