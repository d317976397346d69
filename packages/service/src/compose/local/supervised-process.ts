import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

export interface SupervisedProcess {
  /** Resolves when the process, or the one started in its place, has sent its first message. */
  readonly isUp: Promise<void>;
  /** Ends it by SIGTERM, and starts no other. */
  stop(): Promise<void>;
}

export interface Keeping {
  /** Starts the process, which sends an IPC message when it is ready. Called again after each end, as its needs may have changed. */
  start(): Promise<ChildProcess>;
  /** `cause`: the exit code, null for a signal, or the error that kept it from starting. */
  onEnd(cause: unknown): void;
  readonly pauseMs: number;
}

/** Keeps a child process running: starts it again when it ends or cannot be started, after a pause, until it is stopped. */
export function superviseProcess({ start, onEnd, pauseMs }: Keeping): SupervisedProcess {
  const up = Promise.withResolvers<void>();
  const stopping = new AbortController();
  let child: ChildProcess | null = null;

  async function runOnce(): Promise<unknown> {
    child = await start();
    child.once('message', () => up.resolve());
    // Asked to stop while it was being started.
    if (stopping.signal.aborted) child.kill('SIGTERM');
    const [code] = await once(child, 'exit');
    return code;
  }

  async function keep(): Promise<void> {
    while (!stopping.signal.aborted) {
      const cause = await runOnce().catch((error: unknown) => error);
      if (stopping.signal.aborted) return;
      onEnd(cause);
      await pause(pauseMs, stopping.signal);
    }
  }

  const kept = keep();
  return {
    isUp: up.promise,
    async stop() {
      stopping.abort();
      child?.kill('SIGTERM');
      await kept;
    },
  };
}

const pause = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms).unref();
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
