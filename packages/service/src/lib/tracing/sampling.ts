/** Decides at the start of a trace whether it is recorded. */
export type Sampling = () => boolean;

/**
 * Records a share of traces, and at most so many in a second. Draws its own number: what a caller sent, its trace id or its flag, decides
 * nothing, so that nobody can make a node record more than its operator wants.
 */
export function createSampling(
  { ratio, perSecond }: { readonly ratio: number; readonly perSecond: number },
  { nowMs = () => performance.now(), random = Math.random } = {},
): Sampling {
  let left = perSecond;
  let filledMs = nowMs();
  return () => {
    if (random() >= ratio) return false;
    const now = nowMs();
    left = Math.min(perSecond, left + ((now - filledMs) / 1000) * perSecond);
    filledMs = now;
    if (left < 1) return false;
    left--;
    return true;
  };
}
