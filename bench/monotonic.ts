/** The machine's monotonic clock in microseconds: all processes on it read the same. */
export const monotonicUs = (): number => Number(process.hrtime.bigint() / 1000n);
