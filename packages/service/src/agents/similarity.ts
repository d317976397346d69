export interface Comparable {
  readonly capabilities: readonly string[];
  readonly perRequestMicro: bigint;
  readonly reputation: number;
}

/** 0 to 1: how well one agent can stand in for another. Shared capabilities first, then a near price, then reputation. */
export function similarity(wanted: Comparable, candidate: Comparable): number {
  const shared = candidate.capabilities.filter((name) => wanted.capabilities.includes(name)).length;
  const union = new Set([...wanted.capabilities, ...candidate.capabilities]).size;
  const [low, high] = [wanted.perRequestMicro, candidate.perRequestMicro].sort((a, b) => (a < b ? -1 : 1)) as [
    bigint,
    bigint,
  ];
  const price = high === 0n ? 1 : Number(low) / Number(high);
  const score = 0.7 * (union === 0 ? 0 : shared / union) + 0.2 * price + 0.1 * (candidate.reputation / 1000);
  return Math.round(score * 100) / 100;
}
