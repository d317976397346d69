/** What agents are compared by. `terms`: what they are found by (`termsOf`); those that stand for capabilities and homes count for nothing. */
export interface Comparable {
  readonly capabilities: readonly string[];
  readonly terms: readonly string[];
  readonly perRequestMicro: bigint;
  readonly reputation: number;
}

/** Tenths. What an agent can do weighs more than all the rest, as words and prices are easily copied. */
const weights = { capabilities: 6, text: 2, price: 1, reputation: 1 } as const;

/**
 * 0 to 1: how well one agent can stand in for another. Shared capabilities first, then shared words, a near price, and a reputation
 * that is no worse. 1 for the agent itself; symmetric but for reputation, of which more than the wanted agent has does not help.
 */
export function similarity(wanted: Comparable, candidate: Comparable): number {
  const text = (terms: readonly string[]) => terms.filter((term) => !/^[=@]/.test(term));
  return (
    (weights.capabilities * overlap(wanted.capabilities, candidate.capabilities) +
      // A word of the name is there three times and one of the tags twice, by where it stands.
      weights.text * overlap(text(wanted.terms), text(candidate.terms)) +
      weights.price * nearness(wanted.perRequestMicro, candidate.perRequestMicro) +
      weights.reputation * Math.min(1, wanted.reputation === 0 ? 1 : candidate.reputation / wanted.reputation)) /
    10
  );
}

/** What two sets share of all that they have (Jaccard). */
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
