/** Counts by step of `duration_bin` (SQL); step -1 (not measured) is left out. */
export type Histogram = ReadonlyMap<number, number>;

/** Reads a histogram from JSON. */
export const toHistogram = (counts: Readonly<Record<string, number>>): Histogram =>
  new Map(Object.entries(counts).map(([bin, count]) => [Number(bin), count]));

const STEPS_PER_DOUBLING = 8;

/** Middle of a step, in milliseconds: within 4.5% of every value in it. */
export const middleMs = (bin: number): number => 2 ** ((bin + 0.5) / STEPS_PER_DOUBLING);

/**
 * Returns the smallest value that at least this share of all do not exceed (nearest rank), in milliseconds, rounded to tenths: within 4.5%
 * for values of a millisecond and more. null: no values.
 */
export function percentileMs(histogram: Histogram, share: number): number | null {
  const bins = [...histogram].filter(([bin, count]) => bin >= 0 && count > 0).sort(([a], [b]) => a - b);
  const rank = Math.ceil(bins.reduce((sum, [, count]) => sum + count, 0) * share);
  let seen = 0;
  for (const [bin, count] of bins) {
    seen += count;
    if (seen >= rank) return Math.round(middleMs(bin) * 10) / 10;
  }
  return null;
}

/** Adds the counts of several histograms. */
export function mergeHistograms(histograms: Iterable<Histogram>): Histogram {
  const merged = new Map<number, number>();
  for (const histogram of histograms)
    for (const [bin, count] of histogram) merged.set(bin, (merged.get(bin) ?? 0) + count);
  return merged;
}
