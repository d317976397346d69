/** Pauses between attempts to prove a pending agent's endpoint, after a first attempt at once; after the last one, only on demand. */
const verificationPausesMs = [60_000, 300_000, 1_800_000, 7_200_000, 43_200_000];
const PROBE_MS = 60_000;
/** Probe interval while answers contradict the status, so that a change of status is decided soon. */
const DECIDING_MS = 5_000;
const JITTER = 0.2;

/** Consecutive misses until `offline`, and consecutive answers until `online`. */
export const MISSES_UNTIL_DOWN = 3;
export const ANSWERS_UNTIL_UP = 2;

/** Time of a pending agent's next verification after its `triesDone`th attempt; null when the schedule is used up. */
export function nextVerification(triesDone: number, now: Date): Date | null {
  const pauseMs = verificationPausesMs[triesDone - 1];
  return pauseMs === undefined ? null : new Date(now.getTime() + pauseMs);
}

/** Time of an agent's next probe. `random` in [0, 1) spreads the probes of many agents. */
export function nextProbe(isDeciding: boolean, random: number, now: Date): Date {
  const pauseMs = isDeciding ? DECIDING_MS : PROBE_MS;
  return new Date(now.getTime() + Math.round(pauseMs * (1 - JITTER + 2 * JITTER * random)));
}
