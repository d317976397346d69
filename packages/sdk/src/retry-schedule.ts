const firstDelayMs = 200;
const longestDelayMs = 5_000;
const longestRetryAfterMs = 30_000;

/**
 * Returns the delay before attempt `attempt + 1`: the node's `Retry-After`, else exponential back-off with full jitter. `null` when the
 * node asks for more than 30 s: the caller should decide.
 */
export function retryDelayMs(attempt: number, retryAfterS: number | undefined, random: () => number): number | null {
  if (retryAfterS !== undefined) {
    const askedMs = retryAfterS * 1000;
    return askedMs > longestRetryAfterMs ? null : askedMs + random() * firstDelayMs;
  }
  return random() * Math.min(longestDelayMs, firstDelayMs * 2 ** attempt);
}

/** Seconds of a `Retry-After` header in either of its forms (RFC 9110, 10.2.3); undefined when absent or malformed. */
export function parseRetryAfterS(header: string | null, now: Date): number | undefined {
  if (header === null) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now.getTime()) / 1000));
}
