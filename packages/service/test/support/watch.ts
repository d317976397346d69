import { readFileSync } from 'node:fs';

/** For how long, since the machine started, some program was ready to run and no processor was free. 0 where Linux does not count it. */
function stalledMs(): number {
  try {
    return Number(/^some .* total=(\d+)/.exec(readFileSync('/proc/pressure/cpu', 'utf8'))?.[1] ?? 0) / 1000;
  } catch {
    return 0;
  }
}

/** For how long, from now on, a program waited for a processor: a bound on what was noted elsewhere is that much wider. */
export function countStalls(): () => number {
  const before = stalledMs();
  return () => stalledMs() - before;
}

/**
 * Starts to measure time for a bound: milliseconds since now, less those in which a program waited for a processor. So a bound holds for what
 * is tested, whatever else the machine does.
 */
export function startWatch(): () => number {
  const [startMs, stalls] = [performance.now(), countStalls()];
  return () => performance.now() - startMs - stalls();
}
