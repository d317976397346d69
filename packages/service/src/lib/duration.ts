export const DAY_MS = 86_400_000;

/** Formats a duration for the wire: seconds with at most three decimals, "0.012s". */
export const formatDuration = (ms: number): string => `${Number((ms / 1000).toFixed(3))}s`;
