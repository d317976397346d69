/** Tries to prove a pending agent's endpoint: at once, then after these pauses; then only on demand. */
const verificationPausesMs = [60_000, 300_000, 1_800_000, 7_200_000, 43_200_000];
const PROBE_MS = 60_000;
/** While the answer differs from the status, so that ups and downs are decided soon. */
const DECIDING_MS = 5_000;
const JITTER = 0.2;

/** Down after this many misses, up after this many answers. */
export const MISSES_UNTIL_DOWN = 3;
export const ANSWERS_UNTIL_UP = 2;

/** When a pending agent is tried next, after its `triesDone`th try; null when the schedule is used up. */
export function nextVerification(triesDone: number, now: Date): Date | null {
  const pauseMs = verificationPausesMs[triesDone - 1];
  return pauseMs === undefined ? null : new Date(now.getTime() + pauseMs);
}

/** When an agent is probed next. `random` is in [0, 1): probes of many agents must not bunch up. */
export function nextProbe(isDeciding: boolean, random: number, now: Date): Date {
  const pauseMs = isDeciding ? DECIDING_MS : PROBE_MS;
  return new Date(now.getTime() + Math.round(pauseMs * (1 - JITTER + 2 * JITTER * random)));
}
