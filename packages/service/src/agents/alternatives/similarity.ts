/** The fields by which agents are compared. `terms`: its search terms (`termsOf`); capability and home terms are ignored here. */
export interface Comparable {
  readonly capabilities: readonly string[];
  readonly terms: readonly string[];
  readonly perRequestMicro: bigint;
  readonly reputation: number;
}

/** Tenths. Capabilities outweigh the rest, because words and prices are easily copied. */
const weights = { capabilities: 6, text: 2, price: 1, reputation: 1 } as const;

/**
 * Similarity from 0 to 1, from shared capabilities, shared words, nearness of price and a reputation that is no worse. 1 for the agent
 * itself. Symmetric except for reputation: more than the wanted agent has adds nothing.
 */
export function similarity(wanted: Comparable, candidate: Comparable): number {
  const text = (terms: readonly string[]) => terms.filter((term) => !/^[=@]/.test(term));
  return (
    (weights.capabilities * overlap(wanted.capabilities, candidate.capabilities) +
      // Words of the name occur three times and words of tags twice, once for each position mark.
      weights.text * overlap(text(wanted.terms), text(candidate.terms)) +
      weights.price * nearness(wanted.perRequestMicro, candidate.perRequestMicro) +
      weights.reputation * Math.min(1, wanted.reputation === 0 ? 1 : candidate.reputation / wanted.reputation)) /
    10
  );
}

/** Jaccard index of two sets. */
function overlap(one: readonly string[], other: readonly string[]): number {
  const [ones, others] = [new Set(one), new Set(other)];
  const union = new Set([...ones, ...others]).size;
  return union === 0 ? 1 : (ones.size + others.size - union) / union;
}

/** The lower price as a share of the higher. */
function nearness(one: bigint, other: bigint): number {
  const [low, high] = one < other ? [one, other] : [other, one];
  return high === 0n ? 1 : Number(low) / Number(high);
}
