import { execFile, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { postgresUser } from '../chaos/ha/debian.ts';
import { askDatabase } from './books.ts';
import { until } from './until.ts';

const run = promisify(execFile);
const BIN = '/usr/lib/postgresql/15/bin';

/** A server of Debian's PostgreSQL, run as its own user. */
export interface DebianPostgres {
  readonly url: string;
  /** Ends when it takes writes. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** True while the server process runs. */
  isRunning(): boolean;
}

/** Makes the data folder `data` inside `folder`, which belongs to the user postgres; needs root. */
export async function createDebianPostgres(
  { folder, port }: { readonly folder: string; readonly port: number },
  settings: readonly string[],
): Promise<DebianPostgres> {
  const as: SpawnOptions = { ...postgresUser(), cwd: folder, env: { PATH: process.env.PATH, HOME: folder, TZ: 'UTC' } };
  const data = join(folder, 'data');
  await run(join(BIN, 'initdb'), ['-D', data, '-U', 'postgres', '--auth=trust', '-E', 'UTF8', '--locale=C'], as);
  const own = [`port = ${port}`, "listen_addresses = '127.0.0.1'", `unix_socket_directories = '${folder}'`];
  await writeFile(join(data, 'postgresql.auto.conf'), `${[...settings, ...own].join('\n')}\n`, { flag: 'a' });
  const url = `postgresql://postgres@127.0.0.1:${port}/postgres`;
  const isPrimary = async () => {
    const [row] = await askDatabase<{ is: boolean }>(url, 'select not pg_is_in_recovery() as is');
    return row?.is;
  };
  let isRunning = false;
  return {
    url,
    async start() {
      const server = spawn(join(BIN, 'postgres'), ['-D', data], { ...as, stdio: 'ignore' });
      isRunning = true;
      void once(server, 'exit').then(() => {
        isRunning = false;
      });
      await until(() => isPrimary().catch(() => null), 50);
    },
    stop: async () => void (await run(join(BIN, 'pg_ctl'), ['-D', data, '-m', 'fast', '-w', 'stop'], as)),
    isRunning: () => isRunning,
  };
}
