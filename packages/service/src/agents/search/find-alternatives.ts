import type { AlternativeWish, ListedFacts, ListingIndex } from '@agent-network/search-index/listing';
import { capabilityTerm } from '@agent-network/search-index/words/words';
import type { AgentServices } from '../agent-services.ts';

export interface Alternative {
  readonly agentId: string;
  /** 0 to 1, see `similarity`. */
  readonly similarity: number;
}

interface Wanted {
  readonly id: string;
  readonly capabilities: readonly string[];
  readonly perRequestMicro: bigint;
}

/** Conditions for the alternatives of an agent that can't be called. */
export interface Wish extends AlternativeWish {
  /** The only candidates; null for all. */
  readonly among: readonly string[] | null;
}

const MAX_SHOWN = 5;

/** The alternatives named in AGENT_UNAVAILABLE: online agents that share capabilities, then ones that share words. */
export const nameAlternatives = (ctx: AgentServices, wanted: Wanted): Promise<Alternative[]> =>
  ctx.listing.read((index) => alternativesIn(index, wanted));

/** Alternatives of an agent, in an index that is already read. */
export function alternativesIn(index: ListingIndex, wanted: Wanted): Alternative[] {
  const wish = { maxPerRequestMicro: null, except: [wanted.id] };
  const sharing = index.sharing(wanted, wish);
  const ranked = rank(index, wanted, sharing);
  if (ranked.length >= MAX_SHOWN) return ranked.slice(0, MAX_SHOWN);
  const words = index.facts(wanted.id)?.terms.filter(isCapabilityOrWord) ?? [];
  const alike = index.withTerms(words, wish);
  return rank(index, wanted, [...new Set([...sharing, ...alike])]).slice(0, MAX_SHOWN);
}

/** Agents that share a capability with the wanted one and fit the wish, most similar first: candidates for a fallback. */
export function findAlternatives(ctx: AgentServices, wanted: Wanted, { among, ...wish }: Wish): Promise<Alternative[]> {
  const asked = { ...wish, except: [...wish.except, wanted.id] };
  return ctx.listing.read((index) => {
    if (among) return rank(index, wanted, sharingAmong(index, wanted, among, asked));
    const near = index.sharing(wanted, asked);
    return rank(
      index,
      wanted,
      near.length > 0 ? near : index.withTerms(wanted.capabilities.map(capabilityTerm), asked),
    );
  });
}

const sharingAmong = (
  index: ListingIndex,
  { capabilities }: Wanted,
  among: readonly string[],
  { except, maxPerRequestMicro: most }: AlternativeWish,
): string[] =>
  [...new Set(among)].filter((id) => {
    const facts = except.includes(id) ? null : index.facts(id);
    if (!facts?.isOnline || (most !== null && facts.perRequestMicro > most)) return false;
    return facts.capabilities.some((capability) => capabilities.includes(capability));
  });

/** Skips position marks (each marked word also occurs without one) and home marks. */
const isCapabilityOrWord = (term: string) => !/^[+#@]/.test(term);

/** Most similar first; ties by better reputation, lower price, id. */
function rank(index: ListingIndex, wanted: Wanted, ids: readonly string[]): Alternative[] {
  const self = index.facts(wanted.id);
  if (!self) return [];
  return ids
    .map((id) => index.facts(id))
    .filter((facts) => facts !== null)
    .map((candidate) => ({ candidate, value: similarity(self, candidate) }))
    .sort((a, b) => b.value - a.value || byMerit(a.candidate, b.candidate))
    .map(({ candidate, value }) => ({ agentId: candidate.id, similarity: Math.round(value * 100) / 100 }));
}

function byMerit(one: ListedFacts, other: ListedFacts): number {
  if (one.reputation !== other.reputation) return other.reputation - one.reputation;
  if (one.perRequestMicro !== other.perRequestMicro) return one.perRequestMicro < other.perRequestMicro ? -1 : 1;
  return one.id < other.id ? -1 : 1;
}

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
