import type { Log } from '../../lib/telemetry/log.ts';

/** Remaining work of a process. Streams do not delay its end, as their readers can continue at any other process. */
export interface OpenWork {
  readonly invocations: number;
  /** Calls that change something and are being answered. */
  readonly calls: number;
  readonly streams: number;
}

/** State of a drain: if this process was asked to stop taking calls, and its remaining work. */
export interface Drain {
  /** True from the operator's request on: balancers send no more, and nothing is taken from queues. */
  isAsked(): boolean;
  /** True once balancers had the time to notice: new calls are refused. */
  isRefusing(): boolean;
  /** Counts a call or a stream until the returned function is called. */
  begin(kind: 'calls' | 'streams'): () => void;
  openWork(): OpenWork;
  /** Called with each heartbeat, with the operator's current request. */
  hear(isAsked: boolean): void;
  /** Called if a migration removed something this version uses while this process was declared dead: it stops taking work, for good. */
  outdate(migration: string): void;
}

export interface DrainOptions {
  readonly log: Log;
  /** Time for balancers between the operator's word and the first refusal. */
  readonly noticeMs: number;
  readonly invocations: () => number;
}

/** The state lives with the process: one that starts again takes calls. */
export function createDrain({ log, noticeMs, invocations }: DrainOptions): Drain {
  const open = { calls: 0, streams: 0 };
  let askedMs: number | null = null;
  let isOutdated = false;
  return {
    isAsked: () => isOutdated || askedMs !== null,
    isRefusing: () => isOutdated || (askedMs !== null && performance.now() - askedMs >= noticeMs),
    begin(kind) {
      open[kind] += 1;
      let isOver = false;
      return () => {
        if (!isOver) open[kind] -= 1;
        isOver = true;
      };
    },
    openWork: () => ({ invocations: invocations(), ...open }),
    hear(isAsked) {
      if (isAsked === (askedMs !== null)) return;
      askedMs = isAsked ? performance.now() : null;
      log.warn(isAsked ? 'asked to drain: no new calls are taken' : 'no longer draining: calls are taken again');
    },
    outdate(migration) {
      if (!isOutdated)
        log.error(
          { migration },
          'a migration removed schema that this version uses; refusing new calls, start a newer version',
        );
      isOutdated = true;
    },
  };
}
