import type { Limit, ListingRow } from './listing-fields.ts';
import type { SearchOrder } from './search-order.ts';
import type { VectorChunk } from './vectors.ts';
import type { WantedTerms } from './words/words.ts';

/** End of a page: the sort keys of its last agent as texts, and its id. */
export interface PageEnd {
  readonly keys: readonly string[];
  readonly id: string;
}

/** Conditions other than capabilities and words. */
export interface SearchFilter {
  readonly isOnline: readonly boolean[];
  readonly isVerified: readonly boolean[];
  readonly limits: readonly Limit[];
}

/** Conditions that must all hold. */
export interface ListingQuestion {
  readonly wanted: WantedTerms;
  /**
   * The words of a text (`searchWords`); null: no text condition, empty: no match. Agents match that have at least half of their weight, or
   * the largest share that there is: see `relevanceOf`. A word that no online or verified agent has matches similar ones too, see
   * `Lexicon.resolve`.
   */
  readonly words: readonly string[] | null;
  readonly filter: SearchFilter;
}

/** Agents with the similarity of their texts to that of a search, by `MeaningQuestion`. */
export interface Meant {
  readonly hits: readonly { readonly id: string; readonly cosine: number }[];
  /** Later vectors are left out. */
  readonly asOfMs: number;
}

/** The vectors to look through for the agents closest to a text. */
export interface MeaningQuestion {
  /** Name of the index. Chunks are added to it, and never replaced. */
  readonly name: number;
  readonly chunks: readonly VectorChunk[];
  readonly dimensions: number;
  /** The agents that fit all conditions but the text, as bits by place; null: all. */
  readonly among: Int32Array | null;
  /** The agents among them with words of the text, see `ListingQuestion`. */
  readonly having: Int32Array;
  /** Time of the latest vector, in milliseconds. */
  readonly newestMs: number;
  /** The ids of agents by place; null for one that was removed since. */
  idsAt(places: readonly number[]): (string | null)[];
}

export interface ListingSearch extends ListingQuestion {
  /** Ranks by meaning; without it, by words. */
  readonly meant?: Meant | null;
  readonly order: SearchOrder;
  readonly after: PageEnd | null;
  readonly limit: number;
  readonly offset: number;
}

export interface Hit {
  readonly id: string;
  /** A copy: later changes do not touch it. */
  readonly item: Buffer;
  /** Relevance for the text, 0 to 1; without a text 1. */
  readonly score: number;
}

export interface ListingPage {
  /** Number of matching agents, exact. */
  readonly total: number;
  readonly hits: readonly Hit[];
  /** The end of this page, when agents follow; else null. */
  readonly next: PageEnd | null;
}

export interface FacetQuestion extends ListingQuestion {
  /** Capabilities to combine with each counted one, instead of the wanted ones. */
  readonly beside: readonly string[];
}

/** Each facet ignores its own filter. */
export interface ListingFacets {
  readonly total: number;
  /** The 50 most frequent, of the 300 that most agents have. */
  readonly capabilities: readonly { readonly value: string; readonly count: number }[];
  readonly status: { readonly online: number; readonly offline: number };
  readonly verified: { readonly yes: number; readonly no: number };
  /** This node (null) first, then other nodes, most agents first. */
  readonly homes: readonly { readonly home: string | null; readonly count: number }[];
}

/** Conditions for the alternatives of an agent. */
export interface AlternativeWish {
  /** Maximum price per request; null for any. */
  readonly maxPerRequestMicro: bigint | null;
  readonly except: readonly string[];
}

/** The fields by which agents are compared. */
export interface ListedFacts {
  readonly id: string;
  readonly isOnline: boolean;
  readonly capabilities: readonly string[];
  /** The search terms, see `termsOf`. */
  readonly terms: readonly string[];
  readonly perRequestMicro: bigint;
  readonly reputation: number;
}

/** A search by task: its words and the conditions on agents. */
export interface TaskQuestion {
  /** The words of the task that can decide, see `taskWords`. */
  readonly words: readonly string[];
  /** The agent has every one of these. With them, agents that share no word with the task match as well. */
  readonly capabilities: readonly string[];
  /** Maximum price per request; null for any. */
  readonly maxMicro: bigint | null;
  /** Minimum price per request of agents that are not free. */
  readonly leastMicro: bigint;
  /** True: free agents fit too. */
  readonly takesFree: boolean;
  /** The only candidates; null for all. */
  readonly among: readonly string[] | null;
  readonly except: readonly string[];
  /** Agents already seen: they count as considered, and are not returned again. */
  readonly seen: readonly string[];
  /** An agent to return regardless of words and price, if it is online and has the capabilities; null: none. */
  readonly also: string | null;
  readonly limit: number;
}

/** Facts by which an agent is scored for a task. */
export interface TaskFacts {
  readonly id: string;
  readonly isVerified: boolean;
  /** See `coverageOf`. */
  readonly coverage: number;
  readonly reputation: number;
  readonly priceMicro: bigint;
  readonly responseMs: number | null;
}

export interface TaskHit extends TaskFacts {
  /** The deciding words that it has, the rarest first. */
  readonly matched: readonly string[];
}

/** `usualMicro`: the price that the agents considered ask. */
export type TaskScore = (facts: TaskFacts, usualMicro: bigint) => number;

export interface TaskAnswer {
  /** Hits within the price, best first, then the one of `also`. */
  readonly hits: readonly TaskHit[];
  /** Number of agents that match at any price. */
  readonly considered: number;
  /** The lowest price of those; null without any. */
  readonly cheapestMicro: bigint | null;
  /** Their median price, of a sample when they are more than 1,000. */
  readonly usualMicro: bigint;
  /** The deciding words, the rarest first. */
  readonly words: readonly string[];
}

/**
 * The listed agents in the memory of a process, with all indexes. Synchronous: values read without a change in between are consistent. The
 * index is only a copy of rows in the database.
 */
export interface ListingIndex {
  readonly size: number;
  /** Adds the agent, or replaces its data. */
  put(row: ListingRow): void;
  remove(id: string): void;
  /**
   * Sorts the agents added before. Call it after the first load; until then, and until the first query, additions are not sorted one by
   * one.
   */
  settle(): void;
  has(id: string): boolean;
  /** The agent's list item; null for an unknown one. */
  item(id: string): Buffer | null;
  facts(id: string): ListedFacts | null;
  /** Sets the vector of an agent's text, eight-bit numbers, stored at a time; null: it has none. Unknown agents are ignored. */
  setVector(id: string, vector: { readonly bytes: Uint8Array; readonly storedMs: number } | null): void;
  meaning(question: ListingQuestion): MeaningQuestion;
  search(search: ListingSearch): ListingPage;
  facets(question: FacetQuestion): ListingFacets;
  /** Number of agents of each home node (null: this one), most first. */
  homes(): { readonly home: string | null; readonly count: number }[];
  /**
   * Online agents that share capabilities with the wanted ones and fit the wish, most shared first, then best reputation; at most 30. For
   * each capability 100 candidates are looked at by best reputation, and 100 by nearest price, from the wanted price downwards.
   */
  sharing(wanted: { capabilities: readonly string[]; perRequestMicro: bigint }, wish: AlternativeWish): string[];
  /** Online agents that have any of the terms and fit the wish, best reputation first; at most 30. Of many terms the 60 rarest count. */
  withTerms(terms: readonly string[], wish: AlternativeWish): string[];
  /**
   * Online agents that have a deciding word of the task, or the capabilities that it asks for: verified ones first, then the highest
   * scores. Of words that very many agents have, the agents of best reputation are scored.
   */
  forTask(question: TaskQuestion, score: TaskScore): TaskAnswer;
}
