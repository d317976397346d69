import { IntSlab, sizeClassOf } from './int-slab.ts';
import { type ListingRow, textTermsOf } from './listing-fields.ts';
import type { PostingStore } from './posting-store.ts';
import type { Lexicon } from './words/lexicon.ts';
import { capabilityTerm, isPair, wordsOf } from './words/words.ts';

/** Place of a word: anywhere, in name or tags, in the name. A term has a set for each; words in the name are in all three. */
export type Level = 0 | 1 | 2;
export const LEVELS = 3;

export const setId = (term: number, level: Level): number => term * LEVELS + level;

export const flags = {
  all: '!all',
  online: '!online',
  offline: '!offline',
  verified: '!verified',
  unverified: '!unverified',
} as const;

/** A word of a script without spaces has about two characters, and as many pairs. */
const LENGTH_OF_PAIR = 0.5;

/** The terms of each agent, ascending, each as the id of the set of its highest level; keeps the sets. */
export class TermsByAgent {
  readonly #lexicon: Lexicon;
  readonly #postings: PostingStore;
  readonly #slab = new IntSlab();
  #places = new Int32Array(1024);
  #counts = new Int32Array(1024);
  #lengths = new Float32Array(1024);

  constructor(lexicon: Lexicon, postings: PostingStore) {
    this.#lexicon = lexicon;
    this.#postings = postings;
  }

  /** One set for each term; the agent is in the sets of lower levels, too. */
  of(ordinal: number): Int32Array {
    const count = this.#counts[ordinal] ?? 0;
    return count === 0 ? none : this.#slab.view(this.#places[ordinal] as number, count);
  }

  /** Number of words and capabilities of the agent; a pair of characters is half a word. */
  lengthOf(ordinal: number): number {
    return this.#lengths[ordinal] as number;
  }

  set(ordinal: number, row: ListingRow): void {
    const levels = levelsOf(row);
    const capabilities = new Set(row.capabilities);
    const wanted = this.#setsOf(row, capabilities, levels);
    const old = this.of(ordinal);
    if (isEqual(old, wanted)) return;
    this.#change(ordinal, old, wanted);
    this.#store(ordinal, wanted);
    this.#lengths[ordinal] = capabilities.size + lengthOf(levels.keys());
  }

  clear(ordinal: number): void {
    this.#change(ordinal, this.of(ordinal), none);
    this.#store(ordinal, none);
  }

  #setsOf(row: ListingRow, capabilities: ReadonlySet<string>, levels: ReadonlyMap<string, Level>): Int32Array {
    const lexicon = this.#lexicon;
    const sets: number[] = [];
    for (const capability of capabilities) sets.push(setId(lexicon.take(capabilityTerm(capability)), 0));
    for (const term of textTermsOf(row)) sets.push(setId(lexicon.take(term), 0));
    for (const [word, level] of levels) sets.push(setId(lexicon.take(word), level));
    sets.push(
      setId(lexicon.take(flags.all), 0),
      setId(lexicon.take(row.isOnline ? flags.online : flags.offline), 0),
      setId(lexicon.take(row.isVerified ? flags.verified : flags.unverified), 0),
    );
    return Int32Array.from(sets).sort();
  }

  /** Joins sets before it leaves others: no word goes that is still there. */
  #change(ordinal: number, oldTerms: Int32Array, wantedTerms: Int32Array): void {
    const [old, wanted] = [allSets(oldTerms), allSets(wantedTerms)];
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
    const lengths = new Float32Array(length);
    lengths.set(this.#lengths);
    this.#places = places;
    this.#counts = counts;
    this.#lengths = lengths;
  }
}

/** The sets of all levels that an agent with these terms is in, ascending. */
function allSets(terms: Int32Array): number[] {
  const sets: number[] = [];
  for (let index = 0; index < terms.length; index++) {
    const highest = terms[index] as number;
    for (let set = highest - (highest % LEVELS); set <= highest; set++) sets.push(set);
  }
  return sets;
}

/** Each word with the level of the best field that contains it, as in `termsOf`. */
function levelsOf({ name, tags, description, exampleQuestions }: ListingRow): Map<string, Level> {
  const levels = new Map<string, Level>();
  for (const word of wordsOf(name)) levels.set(word, 2);
  for (const tag of tags) for (const word of wordsOf(tag)) if (!levels.has(word)) levels.set(word, 1);
  for (const text of [description, ...exampleQuestions])
    for (const word of wordsOf(text)) if (!levels.has(word)) levels.set(word, 0);
  return levels;
}

function lengthOf(words: Iterable<string>): number {
  let length = 0;
  for (const word of words) length += isPair(word) ? LENGTH_OF_PAIR : 1;
  return length;
}

const none = new Int32Array(0);

function isEqual(one: Int32Array, other: Int32Array): boolean {
  if (one.length !== other.length) return false;
  for (let index = 0; index < one.length; index++) if (one[index] !== other[index]) return false;
  return true;
}
