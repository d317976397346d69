import { spawn } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../lib/telemetry/log.ts';

const PACKAGE = join(import.meta.dirname, '../../../../dashboard');
const DIST = join(PACKAGE, 'dist');

/** The files of the dashboard build. */
export interface DashboardBuild {
  readonly folder: string;
  /** `failed`: the build failed; the log has the reason. */
  readonly state: () => 'building' | 'ready' | 'failed';
  /** Every file, relative to `folder`; empty until ready. */
  readonly files: () => ReadonlySet<string>;
  /** Resolves when the state is no longer `building`. */
  readonly settled: Promise<void>;
}

/** Runs the build; `stop` ends it early. */
function runBuild(flags: readonly string[]): { ended: Promise<void>; stop(): void } {
  const child = spawn(process.execPath, [join(PACKAGE, 'scripts/build.ts'), '--if-stale', ...flags], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: 'production' },
  });
  let output = '';
  child.stderr.on('data', (part: Buffer) => {
    output = (output + part.toString()).slice(-4000);
  });
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`ended with ${code}: ${output.trim()}`))));
  });
  return { ended, stop: () => void child.kill() };
}

/**
 * Builds the dashboard in a child process, unless the build is up to date with the sources. Returns at once: the start of a node does not
 * wait for it. `yields`: the build has a low priority, so that it does not delay that start either.
 */
export function startDashboardBuild(log: Log, { yields = false } = {}): DashboardBuild & { stop(): void } {
  let state: 'building' | 'ready' | 'failed' = 'building';
  let files: ReadonlySet<string> = new Set();
  let isStopped = false;
  const { ended, stop } = runBuild(yields ? ['--yield'] : []);
  const settled = ended
    .then(async () => {
      files = await listFiles(DIST);
      state = 'ready';
    })
    .catch((error: unknown) => {
      state = 'failed';
      if (!isStopped) log.error({ err: error }, 'dashboard build failed');
    });
  const stopBuild = () => {
    isStopped = true;
    stop();
  };
  return { folder: DIST, state: () => state, files: () => files, settled, stop: stopBuild };
}

async function listFiles(folder: string): Promise<ReadonlySet<string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Set(paths.map((path) => path.slice(folder.length + 1).replaceAll('\\', '/')));
}
