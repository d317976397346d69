import { flags, type Level, setId } from './agent-terms.ts';
import {
  type Band,
  emptySet,
  hasOrdinal,
  intersectAll,
  listSet,
  type OrdinalSet,
  ordinalsOf,
  overlaps,
  type Relevance,
  unite,
} from './sets.ts';
import { type AskedWord, agentsWith, type Shelf, type Wording } from './shelf.ts';
import { decidingWords } from './words/task-words.ts';

export const noRelevance: Relevance = [];

/** An agent matches from this share of the weight of the words on, in thousandths, or from the largest share that there is. */
const ENOUGH = 500;
/** Shares within a twentieth are equal: then the places of the words decide, and after them the reputation. */
const STEP = 50;
const PLACES = 3;

/** The share of the words' weight that the agents of a band have at least, 0 to 1. */
export const shareOf = ({ value }: Pick<Band, 'value'>): number => (Math.floor(value / PLACES) * STEP) / 1000;

/**
 * Ranks agents by the words of a text that they have, each by its weight: the fewer agents have it, the more. A word that no agent has
 * counts like one that a single agent has. Of equal shares, those rank first that have their words in the name, then in name and tags.
 */
export function relevanceOf(shelf: Shelf, words: readonly string[]): Relevance {
  return shelf.cached.relevances.get(
    JSON.stringify(words),
    () => rank(shelf, wordingOf(shelf, words)),
    (bands) => bands.reduce((sum, { agents: { list, bits } }) => sum + (list ?? bits ?? []).length * 4, 0),
  );
}

/** All agents of a relevance. */
export const agentsOf = (shelf: Shelf, relevance: Relevance): OrdinalSet =>
  unite(
    relevance.map(({ agents }) => agents),
    shelf.postings.words,
  );

function wordingOf(shelf: Shelf, words: readonly string[]): Wording {
  const isProven = provenTest(shelf);
  const last = words.length - 1;
  return words.map((word, index) => {
    const parts = word.split('-');
    const joined = parts.length > 1 ? shelf.lexicon.known(parts.join('')) : [];
    const meant = parts.map((part, nth) =>
      parts.length === 1 || joined.length === 0
        ? shelf.lexicon.resolve(part, index === last && nth === parts.length - 1, isProven)
        : shelf.lexicon.known(part),
    );
    return { joined, parts: meant };
  });
}

/** Returns a test that is true for terms of an agent that is online or verified. */
function provenTest(shelf: Shelf): (term: number) => boolean {
  const proven = [agentsWith(shelf, flags.online), agentsWith(shelf, flags.verified)];
  return (term) => {
    const having = shelf.postings.view(setId(term, 0));
    return proven.some((set) => overlaps(having, set));
  };
}

/** Agents that have the word at a place of this level or a better one. Capabilities are as good as tags. */
function agentsAt({ postings, lexicon }: Shelf, { joined, parts }: AskedWord, level: Level): OrdinalSet {
  const having = (terms: readonly number[]) =>
    unite(
      terms.map((term) => postings.view(setId(term, level === 1 && lexicon.textOf(term).startsWith('=') ? 0 : level))),
      postings.words,
    );
  const inParts = intersectAll(parts.map(having)) ?? emptySet;
  return joined.length === 0 ? inParts : unite([having(joined), inParts], postings.words);
}

/** Counts of words by level, and the share, in one number for each agent. */
const COUNT_BITS = 6;
const SHARE_BITS = 32 - COUNT_BITS * PLACES;
const countAt = (level: number): number => 1 << (SHARE_BITS + COUNT_BITS * level);
const readCount = (sum: number, level: number): number =>
  (sum >>> (SHARE_BITS + COUNT_BITS * level)) & ((1 << COUNT_BITS) - 1);

/** The words that decide, each with the agents that have it, and the weight of all. */
function weigh(shelf: Shelf, wording: Wording) {
  const asked = wording.map((word) => ({ word: '', asked: word, having: agentsAt(shelf, word, 0) }));
  const counted = asked.map((each) => ({ ...each, agents: Math.max(1, each.having.size) }));
  const deciding = decidingWords(counted, agentsWith(shelf, flags.all).size);
  return { deciding, whole: deciding.reduce((sum, { weight }) => sum + weight, 0) };
}

/** Returns a function that reads the share of the words' weight that an agent has, 0 to 1. */
export function shareReader(shelf: Shelf, words: readonly string[]): (ordinal: number) => number {
  const { deciding, whole } = weigh(shelf, wordingOf(shelf, words));
  return (ordinal) =>
    deciding.reduce((sum, { word, weight }) => sum + (hasOrdinal(word.having, ordinal) ? weight : 0), 0) / whole;
}

function rank(shelf: Shelf, wording: Wording): Relevance {
  const { deciding, whole } = weigh(shelf, wording);
  const sums = new Int32Array(shelf.columns.capacity);
  const add = (set: OrdinalSet, amount: number) => {
    for (const ordinal of ordinalsOf(set)) sums[ordinal] = (sums[ordinal] as number) + amount;
  };
  for (const { word, weight } of deciding) {
    add(word.having, Math.round((weight / whole) * 1000) + countAt(0));
    for (const level of [1, 2] as const) add(agentsAt(shelf, word.asked, level), countAt(level));
  }
  const having = unite(
    deciding.map(({ word }) => word.having),
    shelf.postings.words,
  );
  return bandsOf(shelf, having, (ordinal) => {
    const sum = sums[ordinal] as number;
    const words = readCount(sum, 0);
    const share = words === deciding.length ? 1000 : Math.min(999, sum & ((1 << SHARE_BITS) - 1));
    const place = readCount(sum, 2) === words ? 2 : readCount(sum, 1) === words ? 1 : 0;
    return { share, place };
  });
}

function bandsOf(
  shelf: Shelf,
  having: OrdinalSet,
  read: (ordinal: number) => { readonly share: number; readonly place: number },
): Relevance {
  const ordinals = ordinalsOf(having);
  const [online, verified] = [agentsWith(shelf, flags.online), agentsWith(shelf, flags.verified)];
  let [best, bestProven] = [0, 0];
  const bands = new Map<number, number[]>();
  for (const ordinal of ordinals) {
    const { share, place } = read(ordinal);
    best = Math.max(best, share);
    if (share > bestProven && (hasOrdinal(online, ordinal) || hasOrdinal(verified, ordinal))) bestProven = share;
    const value = Math.floor(share / STEP) * PLACES + place;
    const band = bands.get(value);
    if (band) band.push(ordinal);
    else bands.set(value, [ordinal]);
  }
  // Agents that prove nothing must not hide the others by holding more of the words.
  const enough = Math.floor(Math.min(ENOUGH, bestProven || best) / STEP);
  return [...bands]
    .filter(([value]) => Math.floor(value / PLACES) >= enough)
    .sort(([a], [b]) => b - a)
    .map(([value, members]) => ({
      value,
      // Bits, where they are shorter than the list.
      agents: unite([listSet(Int32Array.from(members)), emptySet], shelf.postings.words),
    }));
}
