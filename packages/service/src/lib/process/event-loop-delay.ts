import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Event loop delay, in milliseconds. */
export interface EventLoopDelay {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

const RESOLUTION_MS = 20;

/** Measures the delay of timers in this process; each reading covers the time since the previous one. */
export function createDelayMeter(): { read(): EventLoopDelay; stop(): void } {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  // The histogram measures the time from tick to tick.
  const late = (ns: number) => Math.max(0, Math.round((ns / 1e6 - RESOLUTION_MS) * 100) / 100);
  return {
    read() {
      const isEmpty = histogram.count === 0;
      const delay = isEmpty
        ? { p50Ms: 0, p99Ms: 0, maxMs: 0 }
        : { p50Ms: late(histogram.percentile(50)), p99Ms: late(histogram.percentile(99)), maxMs: late(histogram.max) };
      histogram.reset();
      return delay;
    },
    stop: () => void histogram.disable(),
  };
}
