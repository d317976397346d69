import { flags, type Level, setId, TermsByAgent } from './agent-terms.ts';
import { Columns } from './columns.ts';
import { ItemStore } from './item-store.ts';
import type { ListingFacets } from './listing.ts';
import { Orders } from './orders.ts';
import { PostingStore } from './posting-store.ts';
import { emptySet, type OrdinalSet, type Relevance } from './sets.ts';
import { Vectors } from './vectors.ts';
import { Lexicon } from './words/lexicon.ts';

/** A word of a query: agents have all of its parts, each by one of its terms, or a compound as one word. */
export interface AskedWord {
  readonly joined: readonly number[];
  readonly parts: readonly (readonly number[])[];
}

export type Wording = readonly AskedWord[];

/** Cost of gathering and sorting an agent of bits or of a list, in agents looked at in order: these are found quicker in bits. */
export const usualCosts = { ofBits: 2, ofList: 1.5 };

/** The parts of the index that its questions are answered from. */
export interface Shelf {
  readonly lexicon: Lexicon;
  readonly postings: PostingStore;
  readonly terms: TermsByAgent;
  readonly columns: Columns;
  readonly orders: Orders;
  readonly items: ItemStore;
  readonly vectors: Vectors;
  readonly costs: typeof usualCosts;
  /** Good until the next change. */
  readonly cached: {
    readonly relevances: AnswerCache<Relevance>;
    readonly matches: AnswerCache<OrdinalSet>;
    readonly facets: AnswerCache<ListingFacets>;
  };
}

export function createShelf(seed: number, costs = usualCosts): Shelf {
  const lexicon = new Lexicon(seed);
  const postings = new PostingStore();
  const columns = new Columns();
  const terms = new TermsByAgent(lexicon, postings);
  const cached = {
    relevances: new AnswerCache<Relevance>(),
    matches: new AnswerCache<OrdinalSet>(),
    facets: new AnswerCache<ListingFacets>(),
  };
  const [orders, items, vectors] = [new Orders(columns), new ItemStore(), new Vectors()];
  return { lexicon, postings, terms, columns, orders, items, vectors, costs, cached };
}

/** The agents that have the term. */
export function agentsWith({ lexicon, postings }: Shelf, term: string, level: Level = 0): OrdinalSet {
  const id = lexicon.idOf(term);
  return id === undefined ? emptySet : postings.view(setId(id, level));
}

/** True for the set of all agents. */
export const isEveryone = (shelf: Shelf, { size }: OrdinalSet): boolean => size === agentsWith(shelf, flags.all).size;

interface Limits {
  readonly count: number;
  readonly bytes: number;
}

const usual: Limits = { count: 512, bytes: 64 << 20 };

/**
 * LRU cache of the answers to questions since the last change of the index: one that many ask costs nothing but its page. Bounded in number
 * and bytes.
 */
class AnswerCache<T> {
  readonly #answers = new Map<string, { readonly answer: T; readonly bytes: number }>();
  readonly #limits: Limits;
  #bytes = 0;

  constructor(limits: Limits = usual) {
    this.#limits = limits;
  }

  /** `bytesOf`: the memory that only this answer holds. */
  get(question: string, answer: () => T, bytesOf: (answer: T) => number): T {
    const known = this.#answers.get(question);
    if (known) {
      this.#answers.delete(question);
      this.#answers.set(question, known);
      return known.answer;
    }
    const found = answer();
    const bytes = bytesOf(found) + question.length * 2;
    this.#answers.set(question, { answer: found, bytes });
    this.#bytes += bytes;
    for (const [oldest, each] of this.#answers) {
      if (this.#answers.size <= this.#limits.count && this.#bytes <= this.#limits.bytes) break;
      this.#answers.delete(oldest);
      this.#bytes -= each.bytes;
    }
    return found;
  }

  /** After a change of the index. */
  clear(): void {
    if (this.#answers.size === 0) return;
    this.#answers.clear();
    this.#bytes = 0;
  }
}
