import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { sourceHash } from './source-hash.ts';

const PACKAGE = join(import.meta.dirname, '..');
const DIST = join(PACKAGE, 'dist');
/** Holds the id of the process that builds. */
const TURN = join(PACKAGE, '.building');
const MAX_BUILD_MS = 120_000;

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

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/** A builder that was killed holds its turn no more; its number may be of another process by now, which time tells. */
async function isTurnHeld(): Promise<boolean> {
  const holder = Number(await readFile(TURN, 'utf8').catch(() => ''));
  const since = await stat(TURN).catch(() => null);
  return since !== null && holder !== process.pid && isRunning(holder) && Date.now() - since.mtimeMs < MAX_BUILD_MS;
}

/** Waits while another process builds, so that several that start at once build once. */
async function takeTurn(): Promise<() => Promise<void>> {
  for (;;) {
    const taken = await writeFile(TURN, String(process.pid), { flag: 'wx' }).catch((error: unknown) => error);
    if (taken === undefined) return () => rm(TURN, { force: true });
    if ((taken as NodeJS.ErrnoException).code !== 'EEXIST') throw taken;
    if (await isTurnHeld()) await setTimeout(100);
    else await rm(TURN, { force: true });
  }
}

/** Lets the node that starts beside it go first. */
function yieldToNode(): void {
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // The system does not allow it.
  }
}

/** Builds `dist`; with `--if-stale` only when it is not what the sources would give, with `--yield` at a low priority. */
const isForced = !process.argv.includes('--if-stale');
const hash = await sourceHash();
const isStale = async () => isForced || (await builtHash()) !== hash;
if (await isStale()) {
  const endTurn = await takeTurn();
  try {
    if (await isStale()) {
      if (process.argv.includes('--yield')) yieldToNode();
      await build(hash);
    }
  } finally {
    await endTurn();
  }
}
