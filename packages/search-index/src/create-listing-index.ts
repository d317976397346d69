import { flags, LEVELS, setId } from './agent-terms.ts';
import { columnFields, columnValue } from './columns.ts';
import { countFacets, countHomes } from './count-facets.ts';
import { findSharing, findWithTerms } from './find-alternatives.ts';
import { findForTask } from './find-for-task.ts';
import { findMatches } from './find-matches.ts';
import type {
  FacetQuestion,
  ListedFacts,
  ListingIndex,
  ListingPage,
  ListingQuestion,
  ListingSearch,
  MeaningQuestion,
} from './listing.ts';
import { amountOf, type ListingRow } from './listing-fields.ts';
import { cosinesOf, rankByMeaning, scoreOf } from './rank-by-meaning.ts';
import { PageReader } from './read-page.ts';
import { agentsOf, noRelevance, relevanceOf } from './relevance.ts';
import { bitsOf, hasOrdinal, intersect, ordinalsOf } from './sets.ts';
import { agentsWith, createShelf, isEveryone, type Shelf, usualCosts } from './shelf.ts';

/** `seed`: a random number, so that colliding words can't be chosen in advance. Neither it nor the costs change the results. */
export function createListingIndex(seed: number, costs = usualCosts): ListingIndex {
  const shelf = createShelf(seed, costs);
  const ordinals = new Map<string, number>();
  const free: number[] = [];
  const settle = () => {
    shelf.lexicon.settle();
    shelf.orders.settle(() => ordinalsOf(agentsWith(shelf, flags.all)));
  };
  const item = (id: string) => {
    const ordinal = ordinals.get(id);
    return ordinal === undefined ? null : (shelf.items.read([ordinal])[0] ?? null);
  };
  const forget = () => {
    for (const answers of Object.values(shelf.cached)) answers.clear();
  };
  return {
    get size() {
      return ordinals.size;
    },
    put: (row) => {
      forget();
      const known = ordinals.get(row.id);
      if (known !== undefined) return replace(shelf, known, row);
      const ordinal = free.pop() ?? ordinals.size;
      ordinals.set(row.id, ordinal);
      insert(shelf, ordinal, row);
    },
    remove: (id) => {
      const ordinal = ordinals.get(id);
      if (ordinal === undefined) return;
      forget();
      ordinals.delete(id);
      shelf.vectors.giveUp(ordinal);
      shelf.orders.delete(ordinal);
      shelf.terms.clear(ordinal);
      shelf.items.delete(ordinal);
      free.push(ordinal);
    },
    settle,
    has: (id) => ordinals.has(id),
    item,
    facts: (id) => factsOf(shelf, ordinals.get(id)),
    setVector: (id, vector) => setVector(shelf, ordinals.get(id), vector),
    meaning: (question) => {
      settle();
      return { name: seed, ...meaningQuestion(shelf, question) };
    },
    search: (search) => {
      settle();
      return readPage(shelf, search, (id) => ordinals.get(id));
    },
    facets: (question: FacetQuestion) => {
      settle();
      return countFacets(shelf, question);
    },
    homes: () => [...countHomes(shelf)],
    sharing: (wanted, wish) => {
      settle();
      return findSharing(shelf, wanted, wish);
    },
    withTerms: (terms, wish) => {
      settle();
      return findWithTerms(shelf, terms, wish);
    },
    forTask: (question, score) => {
      settle();
      return findForTask(shelf, question, score, (id) => ordinals.get(id));
    },
  };
}

function setVector({ vectors }: Shelf, ordinal: number | undefined, vector: Parameters<ListingIndex['setVector']>[1]) {
  if (ordinal === undefined) return;
  if (vector) vectors.set(ordinal, vector.bytes, vector.storedMs);
  else vectors.clear(ordinal);
}

function insert(shelf: Shelf, ordinal: number, row: ListingRow): void {
  const { columns, postings, items, terms, orders } = shelf;
  if (columns.grow(ordinal)) {
    postings.grow(columns.capacity / 32);
    orders.grow();
  }
  columns.setId(ordinal, row.id);
  for (const field of columnFields) columns.set(field, ordinal, columnValue(row, field));
  items.set(ordinal, row.item);
  terms.set(ordinal, row);
  orders.add(ordinal);
}

function replace({ columns, items, terms, orders }: Shelf, ordinal: number, row: ListingRow): void {
  for (const field of columnFields) {
    const value = columnValue(row, field);
    if (columns.valueOf(field, ordinal) !== value) orders.move(field, ordinal, value);
  }
  items.set(ordinal, row.item);
  terms.set(ordinal, row);
}

/** The ranks of agents for the text, and the agents that match. */
function rankedFor(shelf: Shelf, search: ListingSearch, ordinalOf: (id: string) => number | undefined) {
  const { words, meant } = search;
  if (words === null || words.length === 0) return { relevance: noRelevance, matches: findMatches(shelf, search) };
  if (!meant) return { relevance: relevanceOf(shelf, words), matches: findMatches(shelf, search) };
  const cosines = cosinesOf(meant.hits, ordinalOf);
  const relevance = rankByMeaning(shelf, words, { cosines, asOfMs: meant.asOfMs });
  return { relevance, matches: intersect(findMatches(shelf, { ...search, words: null }), agentsOf(shelf, relevance)) };
}

function readPage(shelf: Shelf, search: ListingSearch, ordinalOf: (id: string) => number | undefined): ListingPage {
  const { relevance, matches } = rankedFor(shelf, search, ordinalOf);
  const { shown, next } = new PageReader(shelf, search, relevance).read(matches);
  const items = shelf.items.read(shown);
  const scoreAt = (ordinal: number) => {
    const band = relevance.find(({ agents }) => hasOrdinal(agents, ordinal));
    return band ? scoreOf(band, Boolean(search.meant)) : 1;
  };
  return {
    total: matches.size,
    hits: shown.map((ordinal, index) => ({
      id: shelf.columns.ids[ordinal] as string,
      item: items[index] as Buffer,
      score: scoreAt(ordinal),
    })),
    next,
  };
}

function meaningQuestion(shelf: Shelf, question: ListingQuestion): Omit<MeaningQuestion, 'name'> {
  const { vectors, columns, postings } = shelf;
  const fitting = findMatches(shelf, { ...question, words: null });
  const { changes } = vectors;
  return {
    chunks: [...vectors.chunks],
    dimensions: vectors.dimensions,
    newestMs: vectors.newestMs,
    among: isEveryone(shelf, fitting) ? null : bitsOf(fitting, postings.words).slice(),
    having: bitsOf(findMatches(shelf, question), postings.words).slice(),
    idsAt: (places) => places.map((place) => (vectors.isSame(place, changes) ? (columns.ids[place] as string) : null)),
  };
}

const marks = ['', '+', '#'];

function factsOf({ columns, terms, lexicon, postings }: Shelf, ordinal: number | undefined): ListedFacts | null {
  if (ordinal === undefined) return null;
  const named = Array.from(terms.of(ordinal), (set) => {
    const term = lexicon.textOf(Math.floor(set / LEVELS));
    return marks.slice(0, (set % LEVELS) + 1).map((mark) => `${mark}${term}`);
  }).flat();
  const online = lexicon.idOf(flags.online);
  return {
    id: columns.ids[ordinal] as string,
    isOnline: online !== undefined && postings.has(setId(online, 0), ordinal),
    capabilities: named.filter((term) => term.startsWith('=')).map((term) => term.slice(1)),
    terms: named.filter((term) => !/^[!@]/.test(term)),
    perRequestMicro: amountOf(columns.numbers['rates.perRequest'][ordinal] as number),
    reputation: columns.numbers.reputation[ordinal] as number,
  };
}
