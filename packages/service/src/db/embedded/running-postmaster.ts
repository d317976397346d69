import { readFile, readlink, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { runCommand } from './postgres-user.ts';

const POLL_MS = 25;

/** A running server from an earlier process of ours, found through `postmaster.pid`. */
export interface RunningPostmaster {
  pid: number;
  port: number;
}

/**
 * Finds the running server of this data folder, if any. Removes a pid file whose number now belongs to another process: PostgreSQL would
 * take that process for itself and refuse to start.
 */
export async function findRunningPostmaster(dataPath: string): Promise<RunningPostmaster | undefined> {
  const pidFile = join(dataPath, 'postmaster.pid');
  const lines = (await readFile(pidFile, 'utf8').catch(() => '')).split('\n');
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 1 || !isAlive(pid)) return undefined;
  if (await isPostmasterOf(pid, dataPath)) return { pid, port: Number(lines[3]) };
  await rm(pidFile, { force: true });
  return undefined;
}

/** Waits until the process is gone; false if it still runs after `timeoutMs`. */
export async function waitForExit(pid: number, timeoutMs: number): Promise<boolean> {
  for (const startMs = performance.now(); performance.now() - startMs < timeoutMs; ) {
    if (!isAlive(pid)) return true;
    await delay(POLL_MS);
  }
  return !isAlive(pid);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** True if the process is the postmaster of this data folder, by its working folder or, without /proc, by its command line. */
async function isPostmasterOf(pid: number, dataPath: string): Promise<boolean> {
  const real = await realpath(dataPath);
  if (process.platform === 'linux') {
    return (await readlink(`/proc/${pid}/cwd`).catch(() => undefined)) === real;
  }
  const { output } = await runCommand(undefined, 'ps', ['-o', 'command=', '-p', String(pid)]);
  return output.includes('postgres') && output.includes(dataPath);
}
