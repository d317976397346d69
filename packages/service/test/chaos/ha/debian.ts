import { existsSync, readFileSync } from 'node:fs';

/** Programs that the test runs, as installed by Debian packages. */
const PROGRAMS = {
  'postgresql-15': '/usr/lib/postgresql/15/bin/postgres',
  patroni: '/usr/bin/patroni',
  'etcd-server': '/usr/bin/etcd',
  haproxy: '/usr/sbin/haproxy',
  nginx: '/usr/sbin/nginx',
} as const;

/** The user of PostgreSQL, which refuses to run as root. */
export interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

/** Why the test cannot run on this machine; null: it can. */
export function whyNot(): string | null {
  if (process.getuid?.() !== 0) return 'it needs root: PostgreSQL runs as another user';
  const missing = Object.entries(PROGRAMS).flatMap(([name, path]) => (existsSync(path) ? [] : [name]));
  if (missing.length > 0) return `it needs Debian packages: apt-get install ${missing.join(' ')} python3-etcd`;
  return null;
}

/** Why a server of Debian's PostgreSQL cannot be run on this machine; null: it can. */
export function whyNotPostgres(): string | null {
  if (process.getuid?.() !== 0) return 'it needs root: PostgreSQL runs as another user';
  return existsSync(PROGRAMS['postgresql-15']) ? null : 'it needs a Debian package: apt-get install postgresql-15';
}

/** Why a restore with pgBackRest cannot be tried on this machine; null: it can. */
export function whyNotRestore(): string | null {
  if (process.getuid?.() !== 0) return 'it needs root: PostgreSQL runs as another user';
  const isThere = existsSync(PROGRAMS['postgresql-15']) && existsSync('/usr/bin/pgbackrest');
  return isThere ? null : 'it needs Debian packages: apt-get install postgresql-15 pgbackrest';
}

export function postgresUser(): SystemUser {
  const [, uid, gid] = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8')) ?? [];
  if (!uid || !gid) throw new Error('there is no user postgres');
  return { uid: Number(uid), gid: Number(gid) };
}

export const binaries = PROGRAMS;
