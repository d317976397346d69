import { spawn } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../lib/log/log.ts';

const PACKAGE = join(import.meta.dirname, '../../../../dashboard');
const DIST = join(PACKAGE, 'dist');

/** The built files of the dashboard, as far as they are there. */
export interface DashboardBuild {
  readonly folder: string;
  /** `failed`: it could not be built; the log says why. */
  readonly state: () => 'building' | 'ready' | 'failed';
  /** Every file, relative to `folder`; empty until ready. */
  readonly files: () => ReadonlySet<string>;
  /** Done when the state is not `building` any more. */
  readonly settled: Promise<void>;
}

export interface HasDashboard {
  /** null: this process serves none. */
  readonly dashboard: DashboardBuild | null;
}

/** Ends a build that is still running: nobody will look at it. */
function runBuild(): { ended: Promise<void>; stop(): void } {
  const child = spawn(process.execPath, [join(PACKAGE, 'scripts/build.ts'), '--if-stale'], {
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
 * Has a child process build the dashboard, unless what is built is of the present sources. Returns at once: the start of a node waits
 * for nothing of this.
 */
export function startDashboardBuild(log: Log): DashboardBuild & { stop(): void } {
  let state: 'building' | 'ready' | 'failed' = 'building';
  let files: ReadonlySet<string> = new Set();
  let isStopped = false;
  const { ended, stop } = runBuild();
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
