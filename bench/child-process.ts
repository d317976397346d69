import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

const START_MS = 60_000;
const STOP_MS = 15_000;

export interface Child {
  /** Resolves with the first line of its standard output that fits; rejects when it ends before or takes longer (a minute by default). */
  line(fits: RegExp, maxMs?: number): Promise<string>;
  /** Asks it to end and waits; after 15 seconds it is killed. */
  stop(): Promise<void>;
  /** kill -9, and waits. */
  kill(): Promise<void>;
}

/** Starts Node on a script. Its output once it is ready, and its standard error, are shown. */
export function startNode(args: readonly string[], env: Record<string, string>, cwd?: string): Child {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    ...(cwd === undefined ? {} : { cwd }),
  });
  let text = '';
  let isReady = false;
  child.stdout?.setEncoding('utf8').on('data', (part: string) => {
    if (isReady) process.stderr.write(part);
    else text += part;
    child.emit('text');
  });
  const name = args.at(-1);
  return {
    async line(fits, maxMs = START_MS) {
      const inTime = AbortSignal.timeout(maxMs);
      for (;;) {
        const found = text.split('\n').find((line) => fits.test(line));
        if (found !== undefined) {
          isReady = true;
          return found;
        }
        if (hasEnded(child))
          throw new Error(`${name} ended with ${child.exitCode ?? child.signalCode} before it was ready: ${text}`);
        const gaveUp = new AbortController();
        const signal = AbortSignal.any([inTime, gaveUp.signal]);
        await Promise.race([once(child, 'text', { signal }), once(child, 'close', { signal })]).finally(() =>
          gaveUp.abort(),
        );
      }
    },
    async stop() {
      if (hasEnded(child)) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await ended;
      clearTimeout(timer);
    },
    async kill() {
      if (hasEnded(child)) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;
