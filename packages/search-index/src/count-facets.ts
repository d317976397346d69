import { flags, setId } from './agent-terms.ts';
import { findMatches, keyOf } from './find-matches.ts';
import type { FacetQuestion, ListingFacets, ListingQuestion, SearchFilter } from './listing.ts';
import { THIS_NODE, textMark, textTerm } from './listing-fields.ts';
import { countBoth, type OrdinalSet } from './sets.ts';
import { agentsWith, isEveryone, type Shelf } from './shelf.ts';
import type { Mark } from './words/lexicon.ts';
import type { WantedTerms } from './words/words.ts';

const SHOWN = 50;
const MAX_CAPABILITIES = 300;
const MAX_HOMES = 300;
const HOME = textMark('home');
const HERE = textTerm('home', THIS_NODE);

/** Counts the agents of each facet. */
export const countFacets = (shelf: Shelf, question: FacetQuestion): ListingFacets =>
  shelf.cached.facets.get(
    keyOf(question.wanted, question.words, question.filter, question.beside),
    () => facetsOf(shelf, question),
    ({ capabilities, homes }) => (capabilities.length + homes.length) * 200,
  );

function facetsOf(shelf: Shelf, question: FacetQuestion): ListingFacets {
  const countIn = (matches: OrdinalSet, flag: string) => countBoth(matches, agentsWith(shelf, flag));
  const anyStatus = findMatches(shelf, withFilter(question, { isOnline: [true, false] }));
  const online = countIn(anyStatus, flags.online);
  const anyVerified = findMatches(shelf, withFilter(question, { isVerified: [true, false] }));
  const yes = countIn(anyVerified, flags.verified);
  const beside = findMatches(shelf, withWanted(question, { any: [], all: question.beside }));
  const anyHome = findMatches(
    shelf,
    withWanted(question, { texts: question.wanted.texts.filter((term) => !term.startsWith(HOME)) }),
  );
  return {
    total: findMatches(shelf, question).size,
    capabilities: countTerms(shelf, beside, commonTerms(shelf, '=', MAX_CAPABILITIES))
      .slice(0, SHOWN)
      .map(({ term, count }) => ({ value: term.slice(1), count })),
    status: { online, offline: anyStatus.size - online },
    verified: { yes, no: anyVerified.size - yes },
    homes: homesOf(countTerms(shelf, anyHome, commonTerms(shelf, HOME, MAX_HOMES))),
  };
}

/** Number of agents of each home node. */
export const countHomes = (shelf: Shelf): ListingFacets['homes'] =>
  homesOf(countTerms(shelf, agentsWith(shelf, flags.all), commonTerms(shelf, HOME, Number.POSITIVE_INFINITY)));

const withFilter = (question: ListingQuestion, filter: Partial<SearchFilter>): ListingQuestion => ({
  ...question,
  filter: { ...question.filter, ...filter },
});

const withWanted = (question: ListingQuestion, wanted: Partial<WantedTerms>): ListingQuestion => ({
  ...question,
  wanted: { ...question.wanted, ...wanted },
});

interface TermCount {
  readonly term: string;
  readonly count: number;
}

/** This node first. */
function homesOf(counts: readonly TermCount[]): ListingFacets['homes'] {
  const homes = counts.map(({ term, count }) => ({ home: term === HERE ? null : term.slice(HOME.length), count }));
  return [...homes.filter(({ home }) => home === null), ...homes.filter(({ home }) => home !== null)];
}

/** The terms with this mark that most agents have, the most common first; the home of this node is always among them. */
function commonTerms({ lexicon, postings }: Shelf, mark: Mark, limit: number): string[] {
  const here: string[] = [];
  let best: TermCount[] = [];
  let least: TermCount | undefined;
  for (const term of lexicon.marked(mark)) {
    const each = { term, count: postings.size(setId(lexicon.idOf(term) as number, 0)) };
    if (term === HERE) here.push(term);
    else if (least === undefined || mostFirst(each, least) < 0) best.push(each);
    if (best.length < limit * 2) continue;
    best = best.sort(mostFirst).slice(0, limit);
    least = best.at(-1);
  }
  const first = best.sort(mostFirst).slice(0, limit);
  return [...here, ...first.map(({ term }) => term)];
}

const mostFirst = (a: TermCount, b: TermCount): number => b.count - a.count || (a.term < b.term ? -1 : 1);

/** Number of matches per term, most first; terms without a match are left out. */
function countTerms(shelf: Shelf, matches: OrdinalSet, terms: readonly string[]): TermCount[] {
  const { postings, lexicon } = shelf;
  const sets = terms.map((term) => setId(lexicon.idOf(term) as number, 0));
  const counts = matches.list
    ? countByAgent(shelf, matches.list, sets)
    : sets.map((set) => (isEveryone(shelf, matches) ? postings.size(set) : countBoth(matches, postings.view(set))));
  return terms
    .map((term, index) => ({ term, count: counts[index] as number }))
    .filter(({ count }) => count > 0)
    .sort(mostFirst);
}

/** Counts by the terms of each agent. For few agents that is less work than intersecting the set of each term. */
function countByAgent({ terms, postings }: Shelf, agents: Int32Array, sets: readonly number[]): number[] {
  const counterOf = new Uint16Array(postings.count);
  for (const [index, set] of sets.entries()) counterOf[set] = index + 1;
  const counts = new Int32Array(sets.length + 1);
  for (const ordinal of agents) {
    const own = terms.of(ordinal);
    for (let index = 0; index < own.length; index++) {
      const counter = counterOf[own[index] as number] as number;
      counts[counter] = (counts[counter] as number) + 1;
    }
  }
  return Array.from(counts.subarray(1));
}
