const SHARDS = 256;
const FIRST_SLOTS = 64;
/** No word that is looked for is within one edit of a shorter one. */
const MIN_CHARS = 3;
const WHOLE = 127;
const POSITION_BITS = 7;
const GONE = -1;

/** One hash table: entries name a word, and which of its characters is left out. */
interface Shard {
  slots: Int32Array;
  /** Slots that are not empty. */
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
 * Finds words within one edit. Two such words are equal, or become equal when one character of either or both is left out; so each word
 * stands in the table once as it is, and once for each character left out. Many small tables, so that none takes long to grow.
 */
export class TypoTable {
  readonly #shards: Shard[] = Array.from({ length: SHARDS }, () => ({ slots: new Int32Array(FIRST_SLOTS), used: 0 }));
  readonly #textOf: (id: number) => string;
  readonly #seed: number;

  /** `seed`: any number that strangers do not know, so that nobody can make words that collide. */
  constructor(textOf: (id: number) => string, seed: number) {
    this.#textOf = textOf;
    this.#seed = seed | 0;
  }

  add(id: number): void {
    const characters = charactersOf(this.#textOf(id));
    for (const position of variantsOf(characters)) {
      const hash = hashOf(characters, position, this.#seed);
      const shard = this.#shards[hash >>> 24] as Shard;
      if (shard.used * 4 >= shard.slots.length * 3) this.#rebuild(shard);
      place(shard, hash, ((id << POSITION_BITS) | position) + 1);
    }
  }

  delete(id: number): void {
    const characters = charactersOf(this.#textOf(id));
    for (const position of variantsOf(characters)) {
      const hash = hashOf(characters, position, this.#seed);
      const { slots } = this.#shards[hash >>> 24] as Shard;
      const entry = ((id << POSITION_BITS) | position) + 1;
      let at = hash & (slots.length - 1);
      while (slots[at] !== entry) at = (at + 1) & (slots.length - 1);
      slots[at] = GONE;
    }
  }

  /** The words within one edit of this one. */
  near(word: string): number[] {
    const characters = charactersOf(word);
    const found = new Set<number>();
    for (const position of variantsOf(characters)) {
      const hash = hashOf(characters, position, this.#seed);
      const { slots } = this.#shards[hash >>> 24] as Shard;
      for (let at = hash & (slots.length - 1); slots[at] !== 0; at = (at + 1) & (slots.length - 1)) {
        const id = ((slots[at] as number) - 1) >>> POSITION_BITS;
        if (slots[at] === GONE || found.has(id)) continue;
        if (isWithinOneEdit(characters, charactersOf(this.#textOf(id)))) found.add(id);
      }
    }
    return [...found];
  }

  /** Without what is gone; twice the size when it is full of what is not. */
  #rebuild(shard: Shard): void {
    const entries = shard.slots.filter((entry) => entry !== 0 && entry !== GONE);
    shard.slots = new Int32Array(entries.length * 2 > shard.slots.length ? shard.slots.length * 2 : shard.slots.length);
    shard.used = 0;
    for (const entry of entries) {
      const id = (entry - 1) >>> POSITION_BITS;
      place(shard, hashOf(charactersOf(this.#textOf(id)), (entry - 1) & WHOLE, this.#seed), entry);
    }
  }
}

function place(shard: Shard, hash: number, entry: number): void {
  const { slots } = shard;
  let at = hash & (slots.length - 1);
  while (slots[at] !== 0) at = (at + 1) & (slots.length - 1);
  slots[at] = entry;
  shard.used++;
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
  return (hash ^ (hash >>> 16)) >>> 0;
}
