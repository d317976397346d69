import type { AlternativeWish, ListedFacts, ListingIndex } from '@agent-network/search-index/listing';
import { capabilityTerm } from '@agent-network/search-index/words/words';
import type { HasListing } from '../search/listing.ts';
import { similarity } from './similarity.ts';

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
export const nameAlternatives = (ctx: HasListing, wanted: Wanted): Promise<Alternative[]> =>
  ctx.listing.read((index) => alternativesIn(index, wanted));

/** The same in an index that was read already. */
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
export function findStandIns(ctx: HasListing, wanted: Wanted, { among, ...wish }: Wish): Promise<Alternative[]> {
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
