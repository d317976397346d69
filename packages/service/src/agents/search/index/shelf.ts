import { AgentTerms, type Level, setId } from './agent-terms.ts';
import { Columns } from './columns.ts';
import { ItemStore } from './item-store.ts';
import { Lexicon } from './lexicon.ts';
import { Orders } from './orders.ts';
import { PostingStore } from './posting-store.ts';
import { emptySet, type OrdinalSet } from './sets.ts';

/** The parts of the index that its questions are answered from. */
export interface Shelf {
  readonly lexicon: Lexicon;
  readonly postings: PostingStore;
  readonly terms: AgentTerms;
  readonly columns: Columns;
  readonly orders: Orders;
  readonly items: ItemStore;
}

export function createShelf(seed: number): Shelf {
  const lexicon = new Lexicon(seed);
  const postings = new PostingStore();
  const columns = new Columns();
  const terms = new AgentTerms(lexicon, postings);
  return { lexicon, postings, terms, columns, orders: new Orders(columns), items: new ItemStore() };
}

/** The agents that have the term. */
export function agentsWith({ lexicon, postings }: Shelf, term: string, level: Level = 0): OrdinalSet {
  const id = lexicon.idOf(term);
  return id === undefined ? emptySet : postings.view(setId(id, level));
}
