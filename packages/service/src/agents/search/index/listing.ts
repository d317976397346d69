import type { SearchFilter } from './search-filter.ts';
import type { SearchOrder } from './search-order.ts';
import type { Wanted } from './words.ts';

/** What the listing knows of an agent. */
export interface ListingRow {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly capabilities: readonly string[];
  readonly tags: readonly string[];
  /** Its home node; null: this node. */
  readonly home: string | null;
  readonly isOnline: boolean;
  readonly isVerified: boolean;
  readonly reputation: number;
  readonly perRequestMicro: bigint;
  readonly perHourMicro: bigint;
  readonly responseMs: number | null;
  readonly createdAt: Date;
  /** The list item as JSON, ready to send. The index keeps a copy. */
  readonly item: Buffer;
}

/** End of a page: the sort keys of its last agent as texts, and its id. */
export interface Place {
  readonly keys: readonly string[];
  readonly id: string;
}

/** Conditions that must all hold. */
export interface ListingQuestion {
  readonly wanted: Wanted;
  /**
   * Words that name, tags or description have, all of them; null: no text is asked for, empty: nothing is found. A word that no agent has
   * stands for similar ones, see `Lexicon.resolve`.
   */
  readonly words: readonly string[] | null;
  readonly filter: SearchFilter;
}

export interface ListingSearch extends ListingQuestion {
  readonly order: SearchOrder;
  readonly after: Place | null;
  readonly limit: number;
  readonly offset: number;
}

export interface Hit {
  readonly id: string;
  /** A copy: later changes do not touch it. */
  readonly item: Buffer;
}

export interface ListingPage {
  /** How many agents match, exactly. */
  readonly total: number;
  readonly hits: readonly Hit[];
  /** The end of this page, when agents follow; else null. */
  readonly next: Place | null;
}

export interface FacetQuestion extends ListingQuestion {
  /** The capabilities beside which each capability is counted, in place of those that are wanted. */
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

/**
 * The listed agents in the memory of a process, with everything by which they are found. Synchronous: what is read between two
 * changes is of one moment. Nothing here is ever written; the rows come from the database.
 */
export interface ListingIndex {
  readonly size: number;
  /** Adds the agent, or replaces what is known of it. */
  put(row: ListingRow): void;
  remove(id: string): void;
  /** Sorts what was put before. Called after the first load; until then, and at the first question, puts are not sorted one by one. */
  settle(): void;
  has(id: string): boolean;
  /** The agent's list item; null for an unknown one. */
  item(id: string): Buffer | null;
  facts(id: string): ListedFacts | null;
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
}
