import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LocalJson } from '../../src/compose/local/seed-local.ts';
import { BUNDLES, bundled } from './bundled.ts';
import { startWatch } from './watch.ts';

const MAIN = join(import.meta.dirname, '../../src/main.ts');

/** The main module in one file, for starts of which only the outcome counts: they take two thirds of the processor time. */
export const bundledMain = (): Promise<string> => bundled(MAIN);

export interface ServiceOptions {
  readonly dataDir: string;
  /** Another user and group to run as; only root may. */
  readonly uid?: number | undefined;
  readonly env?: Record<string, string>;
  /** Default: the main module, as `npm start` runs it. */
  readonly program?: string | undefined;
  /** Called with its pid as soon as it has one. */
  readonly onSpawn?: (pid: number) => void;
}

export interface Ended {
  readonly code: number | null;
  /** Standard output and error, as a person in front of it sees them. */
  readonly output: string;
  readonly tookMs: number;
}

export interface ServiceProcess {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly readyMs: number;
  readonly local: LocalJson;
  /** Ctrl-C: signals every process of the foreground group. */
  interrupt(): Promise<Ended>;
  /** kill -9 of the whole process group. */
  killGroup(): Promise<void>;
}

function launch({ dataDir, uid, env, program = MAIN }: ServiceOptions) {
  const child = spawn(process.execPath, [program], {
    cwd: dataDir,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    // Kept from start to start, as reading 1,600 modules anew takes a second of processor time.
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: BUNDLES,
      HOME: dataDir,
      PORT: '0',
      SEARCH_BY: 'words',
      DATA_DIR: dataDir,
      ...env,
    },
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  const startMs = performance.now();
  let output = '';
  const add = (part: Buffer) => {
    output += part.toString();
  };
  child.stdout.on('data', add);
  child.stderr.on('data', add);
  const ended = once(child, 'exit').then(([code]): Ended => ({ code, output, tookMs: performance.now() - startMs }));
  return { child, startMs, ended, output: () => output };
}

/** Runs the service's main module until it has ended by itself. */
export const runToEnd = (options: ServiceOptions): Promise<Ended> => launch(options).ended;

/** Starts the service as `npm start` does and waits for its welcome. Throws with its words when it ends before. */
export async function startService(options: ServiceOptions): Promise<ServiceProcess> {
  const { child, startMs, ended, output } = launch(options);
  options.onSpawn?.(child.pid ?? 0);
  const welcomed = new Promise<true>((resolve) => {
    child.stdout.on('data', () => output().includes('is running at') && resolve(true));
  });
  const first = await Promise.race([welcomed, ended]);
  if (first !== true) throw new Error(`the service ended with ${first.code}: ${first.output}`);
  const readyMs = performance.now() - startMs;
  const pid = child.pid ?? 0;
  return {
    child,
    pid,
    readyMs,
    local: JSON.parse(await readFile(join(options.dataDir, 'local.json'), 'utf8')),
    async interrupt() {
      const tookMs = startWatch();
      process.kill(-pid, 'SIGINT');
      return { ...(await ended), tookMs: tookMs() };
    },
    async killGroup() {
      process.kill(-pid, 'SIGKILL');
      await ended;
    },
  };
}
