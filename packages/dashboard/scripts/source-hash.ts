import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');

/** Inputs of a build: folders and files, from the root. The lockfile's place is taken by the versions it names (package.json pins them). */
const SOURCES = [
  'packages/dashboard/src',
  'packages/dashboard/public',
  'packages/dashboard/scripts',
  'packages/dashboard/index.html',
  'packages/dashboard/vite.config.ts',
  'packages/dashboard/package.json',
  'packages/contracts/src',
  'packages/sdk/src',
  'packages/sdk/package.json',
  'package-lock.json',
];

async function filesOf(path: string): Promise<string[]> {
  try {
    const entries = await readdir(join(ROOT, path), { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return [join(ROOT, path)];
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Names what a build of these sources would be: the same sources, the same hash. */
export async function sourceHash(): Promise<string> {
  const files = (await Promise.all(SOURCES.map(filesOf))).flat().filter((path) => !/\.test\.tsx?$/.test(path));
  const sorted = files.sort();
  const contents = await Promise.all(sorted.map((path) => readFile(path)));
  const hash = createHash('sha256');
  for (const [index, path] of sorted.entries())
    hash.update(`${path.slice(ROOT.length)}\0${contents[index]?.length}\0`).update(contents[index] ?? '');
  return hash.digest('hex');
}
