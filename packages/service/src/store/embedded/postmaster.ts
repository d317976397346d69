import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Log } from '../../lib/telemetry/log.ts';
import type { Cluster } from './init-cluster.ts';
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

/** The workers of the tests have a budget of 300 each (test/support/test-database.ts), and there is room for one more. */
const MAX_TEST_CONNECTIONS = 1300;

/**
 * Server settings for one node on a small machine: acknowledged means on disk, and short statements are fast. They are passed on the
 * command line, so a newer version of this file applies to old data folders too. `others` come last: a machine that has more room.
 */
function postgresSettings(port: number, durable: boolean, others: Readonly<Record<string, string>> = {}): string[] {
  const settings: Record<string, string | number> = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    max_connections: durable ? 200 : MAX_TEST_CONNECTIONS,
    shared_buffers: durable ? '192MB' : '64MB',
    wal_buffers: '16MB',
    min_wal_size: '128MB',
    max_wal_size: durable ? '2GB' : '512MB',
    wal_level: 'minimal',
    max_wal_senders: 0,
    wal_compression: durable ? 'on' : 'off',
    checkpoint_timeout: '10min',
    random_page_cost: 1.1,
    io_method: 'sync',
    jit: 'off',
    max_parallel_workers_per_gather: 0,
    autovacuum_naptime: durable ? '15s' : '1min',
    autovacuum_vacuum_scale_factor: 0.05,
    log_destination: 'stderr',
    log_min_messages: 'log',
    log_checkpoints: 'off',
    log_timezone: 'UTC',
    timezone: 'UTC',
    ...(durable ? durableSettings() : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
    ...others,
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** On macOS a plain fsync stops at the drive's cache. */
function durableSettings(): Record<string, string | number> {
  const writeThrough = process.platform === 'darwin' ? { wal_sync_method: 'fsync_writethrough' } : {};
  return { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on', commit_delay: 0, ...writeThrough };
}
