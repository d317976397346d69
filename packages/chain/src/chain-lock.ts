import { readFileSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { LocalChainError } from './local-chain-error.ts';

type Process = { pid: number; startedAt: string | null };
type LockNote = { owner: Process; anvil?: Process; rpcUrl?: string };

/** The lock of one process on a chain folder. */
export type ChainLock = {
  /** Records the anvil that runs on this folder, for the next holder. */
  recordAnvil(pid: number, rpcUrl: string): Promise<void>;
  release(): Promise<void>;
};

const LEFTOVER_WAIT_MS = 5_000;

/**
 * Locks a chain folder for this process. Throws `DATA_DIR_IN_USE` when a living process holds it. After a holder that was killed, waits up
 * to 5 s for its anvil to end before the folder is taken over.
 */
export async function lockChainFolder(folder: string): Promise<ChainLock> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, 'lock.json');
  const note: LockNote = { owner: describeProcess(process.pid) };
  while (!(await createNote(file, note))) await clearStaleNote(file);
  return {
    recordAnvil: async (pid, rpcUrl) => {
      const known = { ...note, anvil: describeProcess(pid), rpcUrl };
      await writeFile(`${file}.new`, JSON.stringify(known), { mode: 0o600 });
      await rename(`${file}.new`, file);
    },
    release: () => rm(file, { force: true }),
  };
}

async function createNote(file: string, note: LockNote): Promise<boolean> {
  try {
    await writeFile(file, JSON.stringify(note), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function clearStaleNote(file: string): Promise<void> {
  const note = await readNote(file);
  if (note && isAlive(note.owner)) {
    const where = note.rpcUrl ? `, its chain is at ${note.rpcUrl}` : '';
    throw new LocalChainError(
      'DATA_DIR_IN_USE',
      `The local chain in ${file.replace(/lock\.json$/, '')} belongs to process ${note.owner.pid}, which still runs${where}. ` +
        'Stop it first, or choose another DATA_DIR.',
    );
  }
  if (note?.anvil) await untilGone(note.anvil, file);
  await rm(file, { force: true });
}

async function readNote(file: string): Promise<LockNote | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as LockNote;
  } catch {
    return undefined;
  }
}

async function untilGone(anvil: Process, file: string): Promise<void> {
  for (const start = Date.now(); isAlive(anvil); await delay(50)) {
    if (Date.now() - start < LEFTOVER_WAIT_MS) continue;
    throw new LocalChainError(
      'DATA_DIR_IN_USE',
      `An anvil of an earlier run (process ${anvil.pid}) still runs on ${file}. End it, then start again.`,
    );
  }
}

function describeProcess(pid: number): Process {
  return { pid, startedAt: processStart(pid) };
}

function isAlive({ pid, startedAt }: Process): boolean {
  // Another process may have the same number by now; on Linux the start time tells them apart.
  if (startedAt !== null) return processStart(pid) === startedAt;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Start time of a process, in the kernel's ticks; null when the process does not exist (or only its unreaped remains), or without /proc.
 */
function processStart(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}
