import { type Level, setId, TermsByAgent } from './agent-terms.ts';
import { AnswerCache } from './answer-cache.ts';
import { Columns } from './columns.ts';
import { ItemStore } from './item-store.ts';
import type { ListingFacets } from './listing.ts';
import { Orders } from './orders.ts';
import { PostingStore } from './posting-store.ts';
import { emptySet, type OrdinalSet } from './sets.ts';
import { Lexicon } from './words/lexicon.ts';

/** Words of a question, each as the terms that it stands for. */
export type Wording = readonly (readonly number[])[];

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
  readonly costs: typeof usualCosts;
  /** Good until the next change. */
  readonly cached: {
    readonly wordings: AnswerCache<Wording>;
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
    wordings: new AnswerCache<Wording>(),
    matches: new AnswerCache<OrdinalSet>(),
    facets: new AnswerCache<ListingFacets>(),
  };
  return { lexicon, postings, terms, columns, orders: new Orders(columns), items: new ItemStore(), costs, cached };
}

/** The agents that have the term. */
export function agentsWith({ lexicon, postings }: Shelf, term: string, level: Level = 0): OrdinalSet {
  const id = lexicon.idOf(term);
  return id === undefined ? emptySet : postings.view(setId(id, level));
}
