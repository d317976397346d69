import { SortedList } from '../sorted-list.ts';
import { compareWords } from './words.ts';

const SHARDS = 256;
const FIRST_SLOTS = 64;
/** No word that is looked for is within one edit of a shorter one. */
const MIN_CHARS = 3;
/** Special position: no character is left out. */
const WHOLE = -1;
const GONE = -1;
/** Words of one variant that a mistake is compared with. */
export const MAX_ALIKE = 64;
/** Size at which a shrunken crowd returns to its table. */
const MIN_CROWD = 16;

/** One hash table. An entry is two integers: the hash of a variant, and the number of its word plus one, `GONE`, or 0 for an empty one. */
interface Shard {
  entries: Int32Array;
  /** Entries that are not empty. */
  used: number;
}

/** Code points. */
export function charactersOf(word: string): number[] {
  const characters: number[] = [];
  for (let index = 0; index < word.length; index++) {
    const character = word.codePointAt(index) as number;
    characters.push(character);
    if (character > 0xffff) index++;
  }
  return characters;
}

/** True when one character inserted, deleted or replaced, or two neighbours swapped, turns one word into the other; or nothing. */
export function isWithinOneEdit(one: readonly number[], other: readonly number[]): boolean {
  if (Math.abs(one.length - other.length) > 1) return false;
  const most = Math.min(one.length, other.length);
  let start = 0;
  while (start < most && one[start] === other[start]) start++;
  let end = 0;
  while (end < most - start && one.at(-1 - end) === other.at(-1 - end)) end++;
  const [left, leftOfOther] = [one.length - start - end, other.length - start - end];
  if (left <= 1 && leftOfOther <= 1) return true;
  return left === 2 && leftOfOther === 2 && one[start] === other[start + 1] && one[start + 1] === other[start];
}

/**
 * Finds words within one edit. Two such words are equal, or become equal when one character of either or both is left out; so each word is
 * in the table once as it is, and once for each character left out. Many small tables, so that none takes long to grow.
 * Words that differ in one character share a variant, and anyone can register very many. A variant of more than `MAX_ALIKE` words is kept
 * separately, as a crowd in the order of words; a typo is compared with the first of it, the same ones in every process.
 */
export class TypoTable {
  readonly #shards: Shard[] = Array.from({ length: SHARDS }, () => ({
    entries: new Int32Array(FIRST_SLOTS * 2),
    used: 0,
  }));
  readonly #crowds = new Map<number, SortedList>();
  readonly #textOf: (id: number) => string;
  readonly #seed: number;

  /** `seed`: a number that strangers do not know, so that they can't choose words with colliding variants. */
  constructor(textOf: (id: number) => string, seed: number) {
    this.#textOf = textOf;
    this.#seed = seed | 0;
  }

  add(id: number): void {
    for (const hash of this.#hashesOf(charactersOf(this.#textOf(id)))) this.#insert(hash, id);
  }

  delete(id: number): void {
    for (const hash of this.#hashesOf(charactersOf(this.#textOf(id)))) {
      const crowd = this.#crowds.get(hash);
      if (crowd) this.#leaveCrowd(crowd, hash, id);
      else forget(this.#shardOf(hash), hash, id);
    }
  }

  /** Words within one edit of this one: all of them, but of a crowd at most `MAX_ALIKE`. */
  near(word: string): number[] {
    const characters = charactersOf(word);
    const found = new Set<number>();
    for (const hash of this.#hashesOf(characters))
      for (const id of this.#alike(hash))
        if (!found.has(id) && isWithinOneEdit(characters, charactersOf(this.#textOf(id)))) found.add(id);
    return [...found];
  }

  #hashesOf(characters: readonly number[]): number[] {
    return variantsOf(characters).map((position) => hashOf(characters, position, this.#seed));
  }

  #shardOf(hash: number): Shard {
    return this.#shards[hash >>> 24] as Shard;
  }

  /** At most `MAX_ALIKE`. */
  #alike(hash: number): number[] {
    const crowd = this.#crowds.get(hash);
    if (!crowd) return alikeIn(this.#shardOf(hash), hash);
    const first: number[] = [];
    crowd.forward(crowd.start, crowd.end, (id) => first.push(id) === MAX_ALIKE);
    return first;
  }

  #insert(hash: number, id: number): void {
    const crowd = this.#crowds.get(hash);
    if (crowd) {
      crowd.add(id);
      return;
    }
    const shard = this.#shardOf(hash);
    if (shard.used * 8 >= shard.entries.length * 3) rebuild(shard);
    if (!place(shard, hash, id)) this.#makeCrowd(shard, hash, id);
  }

  #makeCrowd(shard: Shard, hash: number, id: number): void {
    const crowd = new SortedList((a, b) => compareWords(this.#textOf(a), this.#textOf(b)));
    for (const each of alikeIn(shard, hash)) {
      forget(shard, hash, each);
      crowd.add(each);
    }
    crowd.add(id);
    this.#crowds.set(hash, crowd);
  }

  #leaveCrowd(crowd: SortedList, hash: number, id: number): void {
    crowd.delete(id);
    if (crowd.size > MIN_CROWD) return;
    this.#crowds.delete(hash);
    crowd.forward(crowd.start, crowd.end, (each) => {
      this.#insert(hash, each);
      return false;
    });
  }
}

/** Puts the word in place of one that is gone, or at the end of its run; false: `MAX_ALIKE` of this hash are there already. */
function place(shard: Shard, hash: number, id: number): boolean {
  const { entries } = shard;
  const last = entries.length - 1;
  let alike = 0;
  let gone = -1;
  let at = (hash << 1) & last;
  for (; entries[at + 1] !== 0; at = (at + 2) & last) {
    if (entries[at + 1] === GONE) gone = gone < 0 ? at : gone;
    else if (entries[at] === hash) alike++;
  }
  if (alike >= MAX_ALIKE) return false;
  if (gone < 0) shard.used++;
  else at = gone;
  entries[at] = hash;
  entries[at + 1] = id + 1;
  return true;
}

/** The words in the table that have a variant with this hash. */
function alikeIn({ entries }: Shard, hash: number): number[] {
  const ids: number[] = [];
  const last = entries.length - 1;
  for (let at = (hash << 1) & last; entries[at + 1] !== 0; at = (at + 2) & last)
    if (entries[at] === hash && entries[at + 1] !== GONE) ids.push((entries[at + 1] as number) - 1);
  return ids;
}

/** The word is in the table. */
function forget({ entries }: Shard, hash: number, id: number): void {
  const last = entries.length - 1;
  let at = (hash << 1) & last;
  while (entries[at] !== hash || entries[at + 1] !== id + 1) at = (at + 2) & last;
  entries[at + 1] = GONE;
}

/** Rebuilds a table without removed entries; doubles its size if it is still full. */
function rebuild(shard: Shard): void {
  const old = shard.entries;
  let kept = 0;
  for (let at = 1; at < old.length; at += 2) if ((old[at] as number) > 0) kept++;
  shard.entries = new Int32Array(kept * 4 > old.length ? old.length * 2 : old.length);
  shard.used = 0;
  for (let at = 0; at < old.length; at += 2)
    if ((old[at + 1] as number) > 0) place(shard, old[at] as number, (old[at + 1] as number) - 1);
}

/** Positions left out of a word, one variant each: none, or one character; of a run of equal characters only one. */
function variantsOf(characters: readonly number[]): number[] {
  const variants: number[] = [];
  if (characters.length < MIN_CHARS) return variants;
  variants.push(WHOLE);
  for (let position = 0; position < characters.length; position++)
    if (position === 0 || characters[position] !== characters[position - 1]) variants.push(position);
  return variants;
}

function hashOf(characters: readonly number[], without: number, seed: number): number {
  let hash = seed;
  for (let index = 0; index < characters.length; index++)
    if (index !== without) hash = Math.imul(hash ^ (characters[index] as number), 0x5bd1e995) ^ (hash >>> 15);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
