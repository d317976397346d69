export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** Formats a duration for the wire: seconds with at most three decimals, "0.012s". */
export const formatDuration = (ms: number): string => `${Number((ms / 1000).toFixed(3))}s`;

/** Formats a duration for people: "12 ms", "1.25 s", as the dashboard does. */
export const durationText = (ms: number): string =>
  ms < 999.5 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
