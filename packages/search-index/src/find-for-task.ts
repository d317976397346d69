import { flags, setId } from './agent-terms.ts';
import { firstOf } from './find-alternatives.ts';
import type { TaskAnswer, TaskFacts, TaskQuestion, TaskScore } from './listing.ts';
import { amountKey, amountOf } from './listing-fields.ts';
import { bestReputationFirst } from './search-order.ts';
import {
  emptySet,
  hasOrdinal,
  intersect,
  intersectAll,
  keepIf,
  listSet,
  type OrdinalSet,
  ordinalsOf,
  unite,
} from './sets.ts';
import { agentsWith, type Shelf } from './shelf.ts';
import { type CountedWord, coverageOf, type DecidingWord, decidingWords } from './words/task-words.ts';
import { capabilityTerm } from './words/words.ts';

/** Number of words that are looked up with their forms and capabilities; later ones only as written, as a task may have ten thousand. */
const WORDS_WITH_FORMS = 300;
/** Sets of agents are candidates as a whole up to this many; of a larger set those of best reputation are. */
const MAX_CANDIDATES = 2000;
/** Minimum number of candidates to score. */
const FIRST_CANDIDATES = 64;
/** Number of prices that the usual one is the median of. */
const PRICE_SAMPLE = 1000;

/** A word of the task with the sets of its forms, and of the capabilities named like them. */
interface KnownWord extends CountedWord {
  readonly sets: readonly number[];
}

/** See `ListingIndex.forTask`. The cost is bounded by the number of agents, not by the words of the task. */
export function findForTask(
  shelf: Shelf,
  question: TaskQuestion,
  score: TaskScore,
  ordinalOf: (id: string) => number | undefined,
): TaskAnswer {
  const ordinals = (ids: readonly string[]) => ids.map(ordinalOf).filter((ordinal) => ordinal !== undefined);
  const { capabilities, among, except, seen, also, limit } = question;
  const deciding = decidingWords(knownWords(shelf, question.words), agentsWith(shelf, flags.all).size);
  const able = intersectAll([
    agentsWith(shelf, flags.online),
    ...capabilities.map((capability) => agentsWith(shelf, capabilityTerm(capability))),
  ]) as OrdinalSet;
  const having = deciding.map(({ word }) => intersect(agentsIn(shelf, word.sets), able));
  const matching = capabilities.length > 0 ? able : unite(having, shelf.postings.words);
  const considered = without(only(matching, among && ordinals(among)), ordinals(except));
  const { within, ...prices } = byPrice(shelf, considered, question);
  const read = hitReader(shelf, deciding, having);
  const best = candidates(shelf, having, without(within, ordinals(seen)), limit).map((ordinal) => {
    const hit = read(ordinal);
    return { ordinal, hit, value: score(hit, prices.usualMicro) };
  });
  best.sort((a, b) => Number(b.hit.isVerified) - Number(a.hit.isVerified) || b.value - a.value || byId(a.hit, b.hit));
  const found = best.slice(0, limit).map(({ ordinal }) => ordinal);
  const named = ordinals(also === null ? [] : [also]).filter((each) => hasOrdinal(able, each) && !found.includes(each));
  const matched = (ordinal: number) => deciding.filter((_, index) => hasOrdinal(having[index] as OrdinalSet, ordinal));
  return {
    hits: [...found, ...named].map((each) => ({ ...read(each), matched: matched(each).map(({ word }) => word.word) })),
    ...{ considered: considered.size, ...prices },
    words: deciding.map(({ word }) => word.word),
  };
}

const byId = (a: TaskFacts, b: TaskFacts): number => (a.id < b.id ? -1 : 1);

function knownWords({ lexicon, postings }: Shelf, words: readonly string[]): KnownWord[] {
  return words.map((word, index) => {
    const id = lexicon.idOf(word);
    const terms = index < WORDS_WITH_FORMS ? lexicon.known(word) : id === undefined ? [] : [id];
    const sets = terms.map((term) => setId(term, 0));
    return { word, sets, agents: sets.reduce((sum, set) => sum + postings.size(set), 0) };
  });
}

const agentsIn = ({ postings }: Shelf, sets: readonly number[]): OrdinalSet =>
  unite(
    sets.map((set) => postings.view(set)),
    postings.words,
  );

const only = (set: OrdinalSet, ordinals: readonly number[] | null): OrdinalSet =>
  ordinals === null ? set : intersect(set, listSet(Int32Array.from(new Set(ordinals)).sort()));

function without(set: OrdinalSet, ordinals: readonly number[]): OrdinalSet {
  const excluded = new Set(ordinals);
  return excluded.size === 0 ? set : keepIf(set, (ordinal) => !excluded.has(ordinal));
}

/** Agents within the price range, the lowest price of all agents, and the usual price. */
function byPrice({ columns, postings }: Shelf, set: OrdinalSet, { maxMicro, leastMicro, takesFree }: TaskQuestion) {
  const price = columns.numbers['rates.perRequest'];
  const most = maxMicro === null ? Number.POSITIVE_INFINITY : amountKey(maxMicro);
  const least = amountKey(leastMicro);
  const list = ordinalsOf(set);
  const within = new Int32Array(list.length);
  let size = 0;
  let cheapest = Number.POSITIVE_INFINITY;
  for (let at = 0; at < list.length; at++) {
    const ordinal = list[at] as number;
    const asked = price[ordinal] as number;
    if (asked < cheapest) cheapest = asked;
    if (asked <= most && (asked === 0 ? takesFree : asked >= least)) within[size++] = ordinal;
  }
  const count = Math.min(list.length, PRICE_SAMPLE);
  const asked = (nth: number) => price[list[Math.floor((nth * list.length) / count)] as number] as number;
  const usual = Float64Array.from({ length: count }, (_, nth) => asked(nth)).sort()[(count - 1) >> 1];
  return {
    // Bits, where they are shorter than the list.
    within: unite([listSet(within.subarray(0, size)), emptySet], postings.words),
    cheapestMicro: list.length === 0 ? null : amountOf(cheapest),
    usualMicro: usual === undefined ? 0n : amountOf(usual),
  };
}

/**
 * Agents worth a score: those with the highest number of deciding words together, then those of each word, the rarest first, then, if
 * capabilities are wanted, those without a word.
 */
function candidates(shelf: Shelf, having: readonly OrdinalSet[], within: OrdinalSet, limit: number): number[] {
  const found = new Set<number>();
  const fitting = having.map((set) => intersect(set, within));
  const together = fitting.reduce<OrdinalSet>((set, each) => {
    const both = set.size === 0 ? each : intersect(set, each);
    return both.size === 0 ? set : both;
  }, emptySet);
  for (const set of [together, ...fitting, within]) {
    const isSmall = set.size <= MAX_CANDIDATES - found.size;
    for (const ordinal of isSmall ? ordinalsOf(set) : bestOf(shelf, set, limit)) found.add(ordinal);
  }
  return [...found];
}

const bestOf = (shelf: Shelf, set: OrdinalSet, limit: number): number[] =>
  firstOf(shelf, set, { order: bestReputationFirst, after: null, limit: Math.max(FIRST_CANDIDATES, limit) });

/** Reads the facts that an agent is scored by. */
function hitReader(shelf: Shelf, deciding: readonly DecidingWord[], having: readonly OrdinalSet[]) {
  const { ids, numbers } = shelf.columns;
  const verified = agentsWith(shelf, flags.verified);
  return (ordinal: number): TaskFacts => {
    const responseMs = numbers.responseTime[ordinal] as number;
    return {
      id: ids[ordinal] as string,
      isVerified: hasOrdinal(verified, ordinal),
      coverage: coverageOf(
        deciding,
        (index) => hasOrdinal(having[index] as OrdinalSet, ordinal),
        shelf.terms.lengthOf(ordinal),
      ),
      reputation: numbers.reputation[ordinal] as number,
      priceMicro: amountOf(numbers['rates.perRequest'][ordinal] as number),
      responseMs: responseMs === Number.POSITIVE_INFINITY ? null : responseMs,
    };
  };
}
