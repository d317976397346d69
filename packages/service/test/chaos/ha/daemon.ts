import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import type { SystemUser } from './debian.ts';

export interface Daemon {
  readonly pid: number;
  isRunning(): boolean;
  kill(signal?: NodeJS.Signals): Promise<void>;
}

export interface DaemonOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly user?: SystemUser;
  readonly cwd: string;
  /** File for its output. */
  readonly logFile: string;
}

/** Starts a program; a kill waits for its end. */
export function startDaemon({ command, args, env = {}, user, cwd, logFile }: DaemonOptions): Daemon {
  const log = openSync(logFile, 'a');
  const child: ChildProcess = spawn(command, args, {
    cwd,
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C.UTF-8', HOME: cwd, ...env },
    stdio: ['ignore', log, log],
    ...user,
  });
  closeSync(log);
  const { pid } = child;
  if (pid === undefined) throw new Error(`${command} cannot be started`);
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  return {
    pid,
    isRunning,
    async kill(signal = 'SIGKILL') {
      if (!isRunning()) return;
      const ended = once(child, 'exit');
      child.kill(signal);
      await ended;
    },
  };
}
