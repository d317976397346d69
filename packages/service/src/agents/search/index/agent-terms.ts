import { IntSlab, sizeClassOf } from './int-slab.ts';
import type { Lexicon } from './lexicon.ts';
import type { ListingRow } from './listing.ts';
import type { PostingStore } from './posting-store.ts';
import { type Home, THIS_NODE, termsOf } from './words.ts';

/** Where a word stands: anywhere, in name or tags, in the name. A term has a set for each; words in the name are in all three. */
export type Level = 0 | 1 | 2;
export const LEVELS = 3;

export const setId = (term: number, level: Level): number => term * LEVELS + level;

export const homeTerm = (home: Home): string => (home === THIS_NODE ? '@' : `@${home}`);

export const flags = {
  all: '!all',
  online: '!online',
  offline: '!offline',
  verified: '!verified',
  unverified: '!unverified',
} as const;

const levelOfMark: Readonly<Record<string, Level>> = { '+': 1, '#': 2 };

/** The terms of each agent as the ids of the sets that it is in, ascending; keeps the sets. */
export class AgentTerms {
  readonly #lexicon: Lexicon;
  readonly #postings: PostingStore;
  readonly #slab = new IntSlab();
  #places = new Int32Array(1024);
  #counts = new Int32Array(1024);

  constructor(lexicon: Lexicon, postings: PostingStore) {
    this.#lexicon = lexicon;
    this.#postings = postings;
  }

  /** The sets that the agent is in. */
  of(ordinal: number): Int32Array {
    const count = this.#counts[ordinal] ?? 0;
    return count === 0 ? none : this.#slab.view(this.#places[ordinal] as number, count);
  }

  set(ordinal: number, row: ListingRow): void {
    const wanted = this.#setsOf(row);
    const old = this.of(ordinal);
    if (isEqual(old, wanted)) return;
    this.#change(ordinal, old, wanted);
    this.#store(ordinal, wanted);
  }

  clear(ordinal: number): void {
    this.#change(ordinal, this.of(ordinal), none);
    this.#store(ordinal, none);
  }

  #setsOf(row: ListingRow): Int32Array {
    const described = { ...row, capabilities: [...row.capabilities], metadata: { tags: [...row.tags] } };
    const sets = termsOf(described).map((term) => {
      const level = levelOfMark[term.charAt(0)];
      return level === undefined ? setId(this.#lexicon.take(term), 0) : setId(this.#lexicon.take(term.slice(1)), level);
    });
    const states = [
      flags.all,
      row.isOnline ? flags.online : flags.offline,
      row.isVerified ? flags.verified : flags.unverified,
      homeTerm(row.home ?? THIS_NODE),
    ];
    for (const state of states) sets.push(setId(this.#lexicon.take(state), 0));
    return Int32Array.from(sets).sort();
  }

  /** Both ascending. Joins sets before it leaves others: no word goes that is still there. */
  #change(ordinal: number, old: Int32Array, wanted: Int32Array): void {
    const left: number[] = [];
    let at = 0;
    for (const set of old) {
      while (at < wanted.length && (wanted[at] as number) < set) this.#postings.add(wanted[at++] as number, ordinal);
      if (wanted[at] === set) at++;
      else left.push(set);
    }
    while (at < wanted.length) this.#postings.add(wanted[at++] as number, ordinal);
    for (const set of left) this.#postings.delete(set, ordinal);
    for (const set of left)
      if (set % LEVELS === 0 && this.#postings.size(set) === 0) this.#lexicon.release(set / LEVELS);
  }

  #store(ordinal: number, sets: Int32Array): void {
    this.#makeRoom(ordinal);
    const count = this.#counts[ordinal] as number;
    const [held, needed] = [count && sizeClassOf(count), sets.length && sizeClassOf(sets.length)];
    if (count === 0 || sets.length === 0 || held !== needed) {
      if (count > 0) this.#slab.free(this.#places[ordinal] as number, held);
      if (sets.length > 0) this.#places[ordinal] = this.#slab.allocate(needed);
    }
    this.#counts[ordinal] = sets.length;
    if (sets.length > 0) this.#slab.view(this.#places[ordinal] as number, sets.length).set(sets);
  }

  #makeRoom(ordinal: number): void {
    if (ordinal < this.#places.length) return;
    const length = Math.ceil(this.#places.length * 1.5);
    const [places, counts] = [new Int32Array(length), new Int32Array(length)];
    places.set(this.#places);
    counts.set(this.#counts);
    this.#places = places;
    this.#counts = counts;
  }
}

const none = new Int32Array(0);

const isEqual = (one: Int32Array, other: Int32Array): boolean =>
  one.length === other.length && one.every((each, index) => each === other[index]);
