import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../lib/duration.ts';
import { retryAfterMs } from '../../lib/net/error-text.ts';

const SECOND_MS = 1000;

/** The pauses after the first, second … failed try (Standard Webhooks 1.0, "Deliverability and reliability"). */
export const RETRY_PAUSES_MS = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
] as const;

/** Maximum random extension of a pause, so that deliveries that failed together are not retried together. */
const JITTER = 0.1;
const MAX_RETRY_AFTER_MS = DAY_MS;

/** An endpoint is disabled after nothing but failures for this long. */
export const GIVE_UP_AFTER_MS = 5 * DAY_MS;

/** Time of the next attempt after `tries` failures; null when the schedule is used up. `random` is in [0, 1); never before `notBefore`. */
export function nextAttemptAt(tries: number, now: Date, random: number, notBefore: Date | null): Date | null {
  const pauseMs = RETRY_PAUSES_MS[tries - 1];
  if (pauseMs === undefined) return null;
  const atMs = now.getTime() + Math.round(pauseMs * (1 + JITTER * random));
  return new Date(Math.max(atMs, notBefore?.getTime() ?? 0));
}

/** The time until which a `Retry-After` header asks to wait, capped at a day from now; null when absent or invalid. */
export function retryAfter(header: string | null, now: Date): Date | null {
  const pauseMs = retryAfterMs(header, now);
  return pauseMs === null ? null : new Date(now.getTime() + Math.min(pauseMs, MAX_RETRY_AFTER_MS));
}
