import { access, chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PostgresBinaries } from './postgres-binaries.ts';
import { type PostgresUser, runCommand } from './postgres-user.ts';

export const POSTGRES_ROLE = 'agent_network';

/** Location of a database cluster, and the user and binaries that run it. */
export interface Cluster {
  dataPath: string;
  binaries: PostgresBinaries;
  user: PostgresUser;
  password: string;
  durable: boolean;
  /** Settings of the server in addition to `postgresSettings`. */
  settings?: Readonly<Record<string, string>>;
}

/** Creates the database files unless they exist; never takes a half-made folder of a killed start for a database. */
export async function initCluster(cluster: Cluster): Promise<void> {
  if (await exists(join(cluster.dataPath, 'PG_VERSION'))) return assertVersion(cluster);
  const fresh = `${cluster.dataPath}.new`;
  const passwordFile = `${cluster.dataPath}.initial-password`;
  await rm(fresh, { recursive: true, force: true });
  await mkdir(fresh, { mode: 0o700 });
  await writeFile(passwordFile, cluster.password, { mode: 0o600 });
  try {
    if (cluster.user !== undefined) {
      await chown(fresh, cluster.user.uid, cluster.user.gid);
      await chown(passwordFile, cluster.user.uid, cluster.user.gid);
    }
    await runInitdb(cluster, fresh, passwordFile);
    await rename(fresh, cluster.dataPath);
  } finally {
    await rm(passwordFile, { force: true });
  }
}

/** Runs initdb with the builtin C.UTF-8 locale: byte order for sorting, identical on every machine and version, and UTF-8 case rules. */
async function runInitdb(cluster: Cluster, target: string, passwordFile: string): Promise<void> {
  const { ok, output } = await runCommand(cluster.user, join(cluster.binaries, 'bin', 'initdb'), [
    `--pgdata=${target}`,
    `--username=${POSTGRES_ROLE}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--no-instructions',
    ...(cluster.durable ? [] : ['--no-sync']),
  ]);
  if (!ok) throw new Error(`PostgreSQL cannot create its files in ${target}:\n${output}`);
}

async function assertVersion({ dataPath, binaries }: Cluster): Promise<void> {
  const found = (await readFile(join(dataPath, 'PG_VERSION'), 'utf8')).trim();
  const { output } = await runCommand(undefined, join(binaries, 'bin', 'postgres'), ['--version']);
  const ours = /\d+/.exec(output)?.[0];
  if (found !== ours) {
    throw new Error(`${dataPath} was made by PostgreSQL ${found}, this version includes ${ours}: dump and restore it`);
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
