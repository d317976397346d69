/** Result of one round. */
export interface Measurement {
  readonly calls: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Share of one core that the load generator used: near 1, it measured itself. */
  readonly generatorCpu: number;
}

export interface MeasureOptions {
  readonly callers: number;
  readonly seconds: number;
}

/** `callers` make one call after the other until the time is up or `call` answers false: nothing is left to do. */
export async function measure(
  call: (caller: number) => Promise<boolean>,
  options: MeasureOptions,
): Promise<Measurement> {
  const latenciesMs: number[] = [];
  const cpuBefore = process.cpuUsage();
  const startMs = performance.now();
  const endsAtMs = startMs + options.seconds * 1000;
  const callOn = async (caller: number) => {
    for (let beganMs = performance.now(); beganMs < endsAtMs; beganMs = performance.now()) {
      if (!(await call(caller))) return;
      latenciesMs.push(performance.now() - beganMs);
    }
  };
  await Promise.all(Array.from({ length: options.callers }, (_, caller) => callOn(caller)));
  const tookMs = performance.now() - startMs;
  const { user, system } = process.cpuUsage(cpuBefore);
  latenciesMs.sort((a, b) => a - b);
  return {
    calls: latenciesMs.length,
    perSecond: (latenciesMs.length / tookMs) * 1000,
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
    generatorCpu: (user + system) / 1000 / tookMs,
  };
}

/** The value below which this share of the sorted values lies. */
export const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

export const median = (values: readonly number[]): number =>
  quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  );
