import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from '../../src/compose/local/free-port.ts';
import { silentLog } from '../../src/lib/telemetry/log.ts';
import { initCluster, POSTGRES_ROLE } from '../../src/store/embedded/init-cluster.ts';
import { findPostgresBinaries } from '../../src/store/embedded/postgres-binaries.ts';
import { placePostgresHome } from '../../src/store/embedded/postgres-home.ts';
import { choosePostgresUser, spawnOptionsFor } from '../../src/store/embedded/postgres-user.ts';
import { until } from './until.ts';

export interface PostgresServer {
  readonly url: string;
  /** kill -9, as a power cut does. */
  kill(): Promise<void>;
  /** Starts it again on its files. */
  start(): Promise<void>;
  /** Runs one statement on a connection of its own. */
  ask<Row extends pg.QueryResultRow>(text: string): Promise<Row[]>;
}

/** A primary and its standby: real servers, which stream. */
export interface PostgresPair {
  readonly primary: PostgresServer;
  readonly standby: PostgresServer;
  /** Both as one `DATABASE_URL`, the standby first. */
  readonly url: string;
  stop(): Promise<void>;
}

const PASSWORD = 'of-a-test';
const SETTINGS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'max_connections=100',
  'shared_buffers=16MB',
  'wal_level=replica',
  'hot_standby=on',
  'synchronous_commit=on',
  // A kill of the process leaves the system's cache in place.
  'fsync=off',
  'wal_receiver_status_interval=1s',
  'io_method=sync',
];

export async function startPostgresPair(): Promise<PostgresPair> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-network-pair-'));
  await chmod(folder, 0o711);
  const user = await choosePostgresUser(folder);
  const home = await placePostgresHome(folder, user, silentLog);
  const binaries = await findPostgresBinaries(home, user);
  const paths = [join(home, 'primary'), join(home, 'standby')] as const;
  await initCluster({ dataPath: paths[0], binaries, user, password: PASSWORD, durable: false });
  const ports = [await freePort(0), await freePort(0)] as const;
  const postgres = join(binaries, 'bin', 'postgres');
  const [primary, standby] = [0, 1].map((index) =>
    createServer({ postgres, user, path: paths[index] ?? '', port: ports[index] ?? 0 }),
  ) as [PostgresServer, PostgresServer];
  // What initdb left is at rest: a copy of it is a backup.
  await cp(paths[0], paths[1], { recursive: true, preserveTimestamps: true });
  await writeFile(join(paths[1], 'standby.signal'), '');
  await writeFile(
    join(paths[1], 'postgresql.auto.conf'),
    `primary_conninfo = 'host=127.0.0.1 port=${ports[0]} user=${POSTGRES_ROLE} password=${PASSWORD} application_name=standby'\n`,
  );
  if (user) await giveTo(paths[1], user);
  await primary.start();
  await standby.start();
  return {
    primary,
    standby,
    url: `postgresql://${POSTGRES_ROLE}:${PASSWORD}@127.0.0.1:${ports[1]},127.0.0.1:${ports[0]}/postgres`,
    async stop() {
      await Promise.all([primary.kill(), standby.kill()]);
      await rm(home, { recursive: true, force: true });
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function giveTo(path: string, { uid, gid }: { uid: number; gid: number }): Promise<void> {
  const [, code] = await Promise.all([0, once(spawn('chown', ['-R', `${uid}:${gid}`, path]), 'exit')]);
  if (code[0] !== 0) throw new Error(`cannot give ${path} to the user of PostgreSQL`);
}

interface ServerParts {
  readonly postgres: string;
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
  readonly path: string;
  readonly port: number;
}

function createServer({ postgres, user, path, port }: ServerParts): PostgresServer {
  const url = `postgresql://${POSTGRES_ROLE}:${PASSWORD}@127.0.0.1:${port}/postgres`;
  let child: ChildProcess | null = null;
  const ask = async <Row extends pg.QueryResultRow>(text: string): Promise<Row[]> => {
    const client = new pg.Client(url);
    client.on('error', () => undefined);
    try {
      await client.connect();
      return (await client.query<Row>(text)).rows;
    } finally {
      await client.end().catch(() => undefined);
    }
  };
  return {
    url,
    ask,
    async start() {
      const settings = [...SETTINGS, `port=${port}`].flatMap((setting) => ['-c', setting]);
      child = spawn(postgres, ['-D', path, ...settings], { ...spawnOptionsFor(user), stdio: 'ignore' });
      const answers = () => ask('select 1').catch(() => null);
      await until(answers);
    },
    async kill() {
      if (!child?.pid || child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
