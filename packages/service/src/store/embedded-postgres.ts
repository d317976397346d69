import { randomBytes } from 'node:crypto';
import { mkdir, readFile, readlink, realpath, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { replaceFile } from '../lib/replace-file.ts';
import type { Log } from '../lib/telemetry/log.ts';
import { openClient } from './connection-pool.ts';
import { type Cluster, initCluster, POSTGRES_ROLE } from './embedded/init-cluster.ts';
import { findPostgresBinaries } from './embedded/postgres-binaries.ts';
import { placePostgresHome } from './embedded/postgres-home.ts';
import { choosePostgresUser, runCommand } from './embedded/postgres-user.ts';
import { controlOf, type Postmaster, PostmasterStartError, startPostmaster } from './embedded/postmaster.ts';
import { guardRunning } from './embedded/watchdog.ts';

const START_TRIES = 20;
const RETRY_MS = 250;
const START_AGAIN_MS = 2_000;
const SHUTDOWN_WAIT_MS = 5_000;

export interface EmbeddedPostgres {
  url: string;
  /** Fast shutdown: rolls back open transactions; everything acknowledged is on disk. */
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  dataDir: string;
  /** Default: the port of the last start if it is free, else any free port. */
  port?: number;
  /** false turns fsync off: only for databases that may be lost. */
  durable?: boolean;
  /** Settings of the server in addition to `postgresSettings`. */
  settings?: Readonly<Record<string, string>>;
  log: Log;
}

/**
 * Starts the PostgreSQL 18 that npm installed, with its files under `dataDir/postgres`, on 127.0.0.1 with its own password. Does not detect
 * a second caller on the same `dataDir`: hold `lockDataDir` first. Restarts a server that dies.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  await mkdir(options.dataDir, { recursive: true });
  const dataDir = await realpath(options.dataDir);
  const access = await readAccess(dataDir);
  const cluster = await prepareCluster(dataDir, access.password, options);
  let postmaster = await adoptOrStart(cluster, { preferred: options.port ?? access.port }, options.log);
  const { port } = postmaster;
  if (port !== access.port) await writeAccess(dataDir, { ...access, port });
  const stopping = new AbortController();
  const keepRunning = async (): Promise<void> => {
    for (;;) {
      await postmaster.exited;
      if (stopping.signal.aborted) return;
      options.log.error({ port }, 'PostgreSQL ended unexpectedly; starting it again');
      const again = await startAgain(cluster, port, { log: options.log, signal: stopping.signal });
      if (again === null) return;
      postmaster = again;
      if (stopping.signal.aborted) return again.stop();
    }
  };
  const kept = keepRunning();
  return {
    url: `postgresql://${POSTGRES_ROLE}:${cluster.password}@127.0.0.1:${port}/postgres`,
    async stop() {
      stopping.abort();
      await postmaster.stop();
      await kept;
    },
  };
}

async function prepareCluster(
  dataDir: string,
  password: string,
  { durable = true, settings = {}, log }: EmbeddedPostgresOptions,
): Promise<Cluster> {
  const user = await choosePostgresUser(join(dataDir, 'postgres'));
  const home = await placePostgresHome(dataDir, user, log);
  const binaries = await findPostgresBinaries(home, user);
  const cluster = { dataPath: join(home, 'postgres'), binaries, user, password, durable, settings };
  await initCluster(cluster);
  return cluster;
}

/** Starts a server that ended, at the address that the node knows, however long that takes. Null when the node stops first. */
async function startAgain(
  cluster: Cluster,
  port: number,
  { log, signal }: { log: Log; signal: AbortSignal },
): Promise<Postmaster | null> {
  while (!signal.aborted) {
    try {
      return await adoptOrStart(cluster, { fixed: port }, log);
    } catch (err) {
      log.error({ err, port }, 'PostgreSQL could not be started again; the next try follows');
    }
    await delay(START_AGAIN_MS, undefined, { signal, ref: false }).catch(() => undefined);
  }
  return null;
}

/** `preferred`: if it is free; `fixed`: no other will do. */
type PortWanted = { readonly preferred: number | undefined } | { readonly fixed: number };

async function adoptOrStart(cluster: Cluster, port: PortWanted, log: Log): Promise<Postmaster> {
  const running = await findRunningPostmaster(cluster.dataPath);
  if (running !== undefined && !(await waitForExit(running.pid, SHUTDOWN_WAIT_MS))) {
    await assertAnswers(running.port, cluster.password);
    log.warn(running, 'using the PostgreSQL of an earlier run, which is still running');
    return controlOf(guardRunning(running.pid, cluster.user), running.port);
  }
  return startOnPort(cluster, port, log);
}

/**
 * Retries the start: after a kill -9 the old server's orphans may hold its memory for a moment, and a port may be taken between check and
 * use.
 */
async function startOnPort(cluster: Cluster, wanted: PortWanted, log: Log): Promise<Postmaster> {
  for (let attempt = 1; ; attempt++) {
    const port = 'fixed' in wanted ? wanted.fixed : await freePort(attempt < 3 ? wanted.preferred : undefined);
    try {
      return await startPostmaster(cluster, port, log);
    } catch (error) {
      const passing =
        error instanceof PostmasterStartError &&
        /pre-existing shared memory block|could not bind|could not create any TCP|lock file/.test(error.output);
      if (!passing || attempt === START_TRIES) throw error;
      await delay(RETRY_MS);
    }
  }
}

async function assertAnswers(port: number, password: string): Promise<void> {
  const client = await openClient({ host: '127.0.0.1', port, user: POSTGRES_ROLE, password, database: 'postgres' });
  await client.end();
}

function freePort(preferred: number | undefined): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error) => (preferred === undefined ? reject(error) : resolve(freePort(undefined))));
    probe.listen(preferred ?? 0, '127.0.0.1', () => {
      const address = probe.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}

/** Access to the embedded server: its role's password and its last port. */
interface PostgresAccess {
  password: string;
  port?: number;
}

/** Reads `dataDir/postgres.json`, or creates a password and stores it (0600) before any database uses it. */
async function readAccess(dataDir: string): Promise<PostgresAccess> {
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
async function writeAccess(dataDir: string, access: PostgresAccess): Promise<void> {
  const owner = await stat(dataDir);
  await replaceFile(join(dataDir, 'postgres.json'), `${JSON.stringify(access)}\n`, { owner });
}

const POLL_MS = 25;

/** A running server from an earlier process of this node, found through `postmaster.pid`. */
interface RunningPostmaster {
  pid: number;
  port: number;
}

/**
 * Finds the running server of this data folder, if any. Removes a pid file with a number that now belongs to another process, as PostgreSQL
 * would take that process for itself and refuse to start.
 */
async function findRunningPostmaster(dataPath: string): Promise<RunningPostmaster | undefined> {
  const pidFile = join(dataPath, 'postmaster.pid');
  const lines = (await readFile(pidFile, 'utf8').catch(() => '')).split('\n');
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 1 || !isAlive(pid)) return undefined;
  if (await isPostmasterOf(pid, dataPath)) return { pid, port: Number(lines[3]) };
  await rm(pidFile, { force: true });
  return undefined;
}

/** Waits until the process is gone; false if it still runs after `timeoutMs`. */
async function waitForExit(pid: number, timeoutMs: number): Promise<boolean> {
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
