import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sourceHash } from './source-hash.ts';

const PACKAGE = join(import.meta.dirname, '..');
const DIST = join(PACKAGE, 'dist');

/** The hash of the sources that `dist` was built from; null when it was not built. */
async function builtHash(): Promise<string | null> {
  const text = await readFile(join(DIST, 'built.json'), 'utf8').catch(() => null);
  return text === null ? null : String((JSON.parse(text) as { hash?: unknown }).hash);
}

async function build(hash: string): Promise<void> {
  const { build: viteBuild } = await import('vite');
  // Built aside and put in place whole: a node that serves `dist`, or builds at the same time, never sees half of it.
  const aside = join(PACKAGE, `.dist-${process.pid}`);
  await mkdir(aside, { recursive: true });
  try {
    await viteBuild({
      configFile: join(PACKAGE, 'vite.config.ts'),
      configLoader: 'native',
      logLevel: process.argv.includes('--if-stale') ? 'error' : 'info',
      build: { outDir: aside, emptyOutDir: true },
    });
    await writeFile(join(aside, 'built.json'), JSON.stringify({ hash }));
    const old = join(PACKAGE, `.dist-${process.pid}-old`);
    await rename(DIST, old).catch(() => undefined);
    await rename(aside, DIST);
    await rm(old, { recursive: true, force: true });
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

/** Builds `dist`; with `--if-stale` only when it is not what the sources would give. */
const hash = await sourceHash();
if (!process.argv.includes('--if-stale') || (await builtHash()) !== hash) await build(hash);
