import { performance } from 'node:perf_hooks';
import type { TurnLength } from './start-pace.ts';

/** The length of a turn of the event loop, as the mean of the turns since it was read last. Waiting for something to do is no part of it. */
export interface TurnMeter {
  read(): TurnLength;
}

export function createTurnMeter(): TurnMeter {
  let before = sample();
  return {
    read() {
      const now = sample();
      const turns = Math.max(1, now.loops - before.loops);
      const length = { wallMs: (now.wallMs - before.wallMs) / turns, cpuMs: (now.cpuMs - before.cpuMs) / turns };
      before = now;
      return length;
    },
  };
}

function sample() {
  const { user, system } = process.threadCpuUsage();
  return {
    cpuMs: (user + system) / 1000,
    wallMs: performance.eventLoopUtilization().active,
    loops: performance.nodeTiming.uvMetricsInfo.loopCount,
  };
}
