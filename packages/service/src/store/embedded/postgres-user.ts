import { spawn } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';

/** The unprivileged user that PostgreSQL runs as when the node is root; undefined: the current user. */
export type PostgresUser = { uid: number; gid: number } | undefined;

const NOBODY_FALLBACK = { uid: 65_534, gid: 65_534 };

/**
 * Chooses the user for PostgreSQL, which refuses to run as root: as root the owner of an existing data folder, else `nobody`; otherwise the
 * current user.
 */
export async function choosePostgresUser(dataPath: string): Promise<PostgresUser> {
  if (process.getuid?.() !== 0) return undefined;
  const owner = await stat(dataPath).catch(() => undefined);
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const passwd = await readFile('/etc/passwd', 'utf8').catch(() => '');
  const fields = /^nobody:.*$/m.exec(passwd)?.[0].split(':') ?? [];
  const [uid, gid] = [Number(fields[2]), Number(fields[3])];
  return uid > 0 && gid > 0 ? { uid, gid } : NOBODY_FALLBACK;
}

/** Spawn options of every PostgreSQL process: no PG* variables, and a working directory that any user may enter. */
export function spawnOptionsFor(user: PostgresUser): {
  cwd: string;
  env: Record<string, string>;
  uid?: number;
  gid?: number;
} {
  return { cwd: '/', env: { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }, ...user };
}

/** True if `user` can run the command successfully. Runs it, which covers mode bits, ACLs and mount options. */
export async function canRun(user: PostgresUser, command: string, args: readonly string[]): Promise<boolean> {
  return (await runCommand(user, command, args)).ok;
}

/** Runs a command as `user` until it exits; never throws. */
export function runCommand(
  user: PostgresUser,
  command: string,
  args: readonly string[],
): Promise<{ ok: boolean; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { ...spawnOptionsFor(user), stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const collect = (chunk: Buffer) => {
      output += chunk.toString();
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.once('error', (error) => resolve({ ok: false, output: `${output}${error.message}` }));
    child.once('close', (code) => resolve({ ok: code === 0, output }));
  });
}
