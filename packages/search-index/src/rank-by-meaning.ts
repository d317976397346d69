import type { Meant } from './listing.ts';
import { agentsOf, relevanceOf, shareOf, shareReader } from './relevance.ts';
import {
  type Band,
  emptySet,
  hasOrdinal,
  listSet,
  type OrdinalSet,
  ordinalsOf,
  type Relevance,
  unite,
} from './sets.ts';
import type { Shelf } from './shelf.ts';

/** Agents are close from this similarity on, and down to this much below the closest. */
const LEAST = 0.2;
const SPREAD = 0.25;
/** Added to the similarity of an agent that has all words of the text. */
const WORDS_WEIGHT = 0.3;
/** Values within a step are equal: after them the reputation decides. */
const STEP = 0.01;
/** Bands from here on are of agents with a value, those below of agents by their words alone. */
const HEAD = 1000;

/** The relevance of a band, 0 to 1. By meaning: its value, divided by the highest possible one. By words: the share of their weight. */
export function scoreOf({ value }: Pick<Band, 'value'>, isByMeaning: boolean): number {
  if (!isByMeaning) return shareOf({ value });
  const found = value < HEAD / 2 ? WORDS_WEIGHT * shareOf({ value }) : (value - HEAD) * STEP;
  return Math.min(1, Math.max(0, found / (1 + WORDS_WEIGHT)));
}

/**
 * Ranks agents that are close in meaning, and agents that match by words (`relevanceOf`), by the sum of similarity and words, best first.
 * Agents without a vector have the similarity of the least close agent. Agents with a vector but without a hit follow by their words.
 */
export function rankByMeaning(
  shelf: Shelf,
  words: readonly string[],
  { cosines, asOfMs }: { readonly cosines: ReadonlyMap<number, number>; readonly asOfMs: number },
): Relevance {
  const byWords = relevanceOf(shelf, words);
  const matching = agentsOf(shelf, byWords);
  const least = Math.max(LEAST, Math.max(...cosines.values(), 0) - SPREAD);
  const shareAt = shareReader(shelf, words);
  const head = new Map<number, number[]>();
  const add = (ordinal: number, similarity: number, share: number) => {
    const value = HEAD + Math.floor((similarity + WORDS_WEIGHT * share) / STEP);
    const band = head.get(value);
    if (band) band.push(ordinal);
    else head.set(value, [ordinal]);
  };
  for (const [ordinal, cosine] of cosines)
    if (cosine >= least || hasOrdinal(matching, ordinal)) add(ordinal, cosine, shareAt(ordinal));
  const tail = byWords.map((band) => {
    const left: number[] = [];
    for (const ordinal of ordinalsOf(band.agents)) {
      if (cosines.has(ordinal)) continue;
      if (hasVector(shelf, ordinal, asOfMs)) left.push(ordinal);
      else add(ordinal, least, shareOf(band));
    }
    return { value: band.value, agents: setOf(shelf, left) };
  });
  const bands = [...head].sort(([a], [b]) => b - a);
  return [
    ...bands.map(([value, members]) => ({
      value,
      agents: setOf(
        shelf,
        members.sort((a, b) => a - b),
      ),
    })),
    ...tail.filter(({ agents }) => agents.size > 0),
  ];
}

const hasVector = ({ vectors }: Shelf, ordinal: number, asOfMs: number): boolean => {
  const timeMs = vectors.timeOf(ordinal);
  return timeMs !== null && timeMs <= asOfMs;
};

/** Bits, where they are shorter than the list. */
const setOf = ({ postings }: Shelf, ascending: number[]): OrdinalSet =>
  unite([listSet(Int32Array.from(ascending)), emptySet], postings.words);

/** The agents by ordinal that are still those of the hits. */
export function cosinesOf(hits: Meant['hits'], ordinalOf: (id: string) => number | undefined): Map<number, number> {
  const cosines = new Map<number, number>();
  for (const { id, cosine } of hits) {
    const ordinal = ordinalOf(id);
    if (ordinal !== undefined) cosines.set(ordinal, cosine);
  }
  return cosines;
}
