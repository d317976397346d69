import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Log } from '../../lib/log/log.ts';
import type { Cluster } from './init-cluster.ts';
import { postgresSettings } from './postgres-settings.ts';
import { spawnGuarded } from './watchdog.ts';

const STOP_WAIT_MS = 30_000;

/** A running server. `exited` resolves when it is gone, for any reason. */
export interface Postmaster {
  port: number;
  exited: Promise<void>;
  stop(): Promise<void>;
}

/** The server ended before it accepted connections; `output` is its output. */
export class PostmasterStartError extends Error {
  readonly output: string;
  constructor(output: string) {
    super(`PostgreSQL did not start:\n${output}`);
    this.output = output;
  }
}

/** Starts a server on 127.0.0.1:port and resolves when it accepts connections. */
export async function startPostmaster(cluster: Cluster, port: number, log: Log): Promise<Postmaster> {
  const args = ['-D', cluster.dataPath, ...postgresSettings(port, cluster.durable, cluster.settings)];
  const child = spawnGuarded(join(cluster.binaries, 'bin', 'postgres'), args, cluster.user);
  child.ref();
  await untilReady(child, log);
  child.unref();
  return controlOf(child, port);
}

/** Wraps a watchdog child as the handle of its server. */
export function controlOf(child: ChildProcess, port: number): Postmaster {
  const exited = hasExited(child) ? Promise.resolve() : once(child, 'exit').then(() => undefined);
  return {
    port,
    exited,
    async stop() {
      if (hasExited(child)) return;
      child.ref();
      child.stdin?.end();
      const late = setTimeout(() => shutDownAtOnce(child), STOP_WAIT_MS);
      await exited;
      clearTimeout(late);
    },
  };
}

/** Signals the server's process group, which the watchdog leads; on SIGQUIT the server aborts at once and recovers at its next start. */
function shutDownAtOnce(child: ChildProcess): void {
  if (child.pid !== undefined) process.kill(-child.pid, 'SIGQUIT');
}

function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function untilReady(child: ChildProcess, log: Log): Promise<void> {
  return new Promise((resolve, reject) => {
    const printed: string[] = [];
    let ready = false;
    child.once('error', reject);
    child.once('exit', () => reject(new PostmasterStartError(printed.join('\n'))));
    if (child.stderr === null) return;
    createInterface({ input: child.stderr }).on('line', (line) => {
      if (!ready) printed.push(line);
      const serious = /\b(FATAL|PANIC):/.test(line) && ready;
      log[serious ? 'warn' : 'debug']({ line }, 'PostgreSQL');
      if (!line.includes('database system is ready to accept connections')) return;
      ready = true;
      resolve();
    });
  });
}
