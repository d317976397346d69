/**
 * A set of ordinals: a sorted list while it is small, else a bitmap. Readers must finish before the next change of the index, and must not
 * write to it.
 */
export interface OrdinalSet {
  readonly size: number;
  /** Exactly one of the two is there. */
  readonly list: Int32Array | null;
  readonly bits: Int32Array | null;
}

export const emptySet: OrdinalSet = { size: 0, list: new Int32Array(0), bits: null };

export const listSet = (list: Int32Array): OrdinalSet => ({ size: list.length, list, bits: null });

export function bitCount(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

export const hasBit = (bits: Int32Array, ordinal: number): boolean =>
  (((bits[ordinal >>> 5] as number) >>> (ordinal & 31)) & 1) === 1;

/** The first position in the sorted list with at least this value. */
export function lowerBound(list: Int32Array, value: number, from = 0, to = list.length): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((list[middle] as number) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function hasOrdinal({ list, bits }: OrdinalSet, ordinal: number): boolean {
  if (bits) return hasBit(bits, ordinal);
  return list !== null && list[lowerBound(list, ordinal)] === ordinal;
}

/** Both. */
export function intersect(one: OrdinalSet, other: OrdinalSet): OrdinalSet {
  const [small, large] = one.size <= other.size ? [one, other] : [other, one];
  if (small.list) return listSet(large.list ? inBothLists(small.list, large.list) : inBits(small.list, large));
  if (large.list) return listSet(inBits(large.list, small));
  return inBothBits(small.bits as Int32Array, large.bits as Int32Array);
}

function inBits(list: Int32Array, { bits }: OrdinalSet): Int32Array {
  const found = new Int32Array(list.length);
  let size = 0;
  for (let index = 0; index < list.length; index++) {
    const ordinal = list[index] as number;
    found[size] = ordinal;
    size += (((bits as Int32Array)[ordinal >>> 5] as number) >>> (ordinal & 31)) & 1;
  }
  return found.subarray(0, size);
}

/** Leaps through the longer list, in steps that double. */
function inBothLists(small: Int32Array, large: Int32Array): Int32Array {
  const found = new Int32Array(small.length);
  let size = 0;
  let at = 0;
  for (let index = 0; index < small.length && at < large.length; index++) {
    const ordinal = small[index] as number;
    let step = 1;
    while (at + step < large.length && (large[at + step] as number) < ordinal) step *= 2;
    at = lowerBound(large, ordinal, at + (step >>> 1), Math.min(large.length, at + step + 1));
    if (large[at] === ordinal) found[size++] = ordinal;
  }
  return found.subarray(0, size);
}

function inBothBits(one: Int32Array, other: Int32Array): OrdinalSet {
  const bits = one.slice();
  return compact({ size: keepBits(bits, other), list: null, bits });
}

/** Keeps the bits that the other has too; returns how many there are. */
function keepBits(bits: Int32Array, other: Int32Array): number {
  const length = Math.min(bits.length, other.length);
  let size = 0;
  for (let index = 0; index < length; index++) {
    const word = (bits[index] as number) & (other[index] as number);
    bits[index] = word;
    if (word !== 0) size += bitCount(word);
  }
  return size;
}

/** True if the sets intersect. Stops at the first common element. */
export function overlaps(one: OrdinalSet, other: OrdinalSet): boolean {
  const [small, large] = one.size <= other.size ? [one, other] : [other, one];
  if (small.list) return small.list.some((ordinal) => hasOrdinal(large, ordinal));
  if (large.list) return large.list.some((ordinal) => hasOrdinal(small, ordinal));
  const bits = large.bits as Int32Array;
  return (small.bits as Int32Array).some((word, index) => (word & (bits[index] as number)) !== 0);
}

/** The intersection of the sets; null without sets. */
export function intersectAll(sets: readonly OrdinalSet[]): OrdinalSet | null {
  const [first, second, ...others] = sets.toSorted((a, b) => a.size - b.size);
  if (first === undefined || second === undefined) return first ?? null;
  if (first.list || others.length === 0 || [second, ...others].some(({ list }) => list !== null))
    return [second, ...others].reduce((found, each) => (found.size === 0 ? found : intersect(found, each)), first);
  const bits = (first.bits as Int32Array).slice();
  let size = 0;
  for (const each of [second, ...others]) size = keepBits(bits, each.bits as Int32Array);
  return compact({ size, list: null, bits });
}

/** At least one. `words`: the length of bits. */
export function unite(sets: readonly OrdinalSet[], words: number): OrdinalSet {
  const [first, ...others] = sets;
  if (first === undefined) return emptySet;
  if (others.length === 0) return first;
  const sum = sets.reduce((total, { size }) => total + size, 0);
  if (sum <= words && sets.every(({ list }) => list !== null)) return uniteLists(sets, sum);
  const bits = new Int32Array(words);
  for (const set of sets) addTo(bits, set);
  let size = 0;
  for (let index = 0; index < words; index++) size += bitCount(bits[index] as number);
  return compact({ size, list: null, bits });
}

function uniteLists(sets: readonly OrdinalSet[], sum: number): OrdinalSet {
  const all = new Int32Array(sum);
  let length = 0;
  for (const { list } of sets) {
    all.set(list as Int32Array, length);
    length += (list as Int32Array).length;
  }
  all.sort();
  let size = 0;
  for (let index = 0; index < length; index++)
    if (index === 0 || all[index] !== all[index - 1]) all[size++] = all[index] as number;
  return listSet(all.subarray(0, size));
}

export function bitsOf(set: OrdinalSet, words: number): Int32Array {
  if (set.bits) return set.bits;
  const bits = new Int32Array(words);
  addTo(bits, set);
  return bits;
}

function addTo(into: Int32Array, { list, bits }: OrdinalSet): void {
  if (bits) {
    for (let index = 0; index < bits.length; index++) into[index] = (into[index] as number) | (bits[index] as number);
    return;
  }
  for (const ordinal of list as Int32Array)
    into[ordinal >>> 5] = (into[ordinal >>> 5] as number) | (1 << (ordinal & 31));
}

/** The ordinals that pass the test. */
export function keepIf(set: OrdinalSet, test: (ordinal: number) => boolean): OrdinalSet {
  const found = new Int32Array(set.size);
  let size = 0;
  for (const ordinal of ordinalsOf(set)) if (test(ordinal)) found[size++] = ordinal;
  return listSet(found.subarray(0, size));
}

/** A set of few as a list. */
function compact(set: OrdinalSet): OrdinalSet {
  return set.bits && set.size < set.bits.length ? listSet(ordinalsOf(set)) : set;
}

/** In ascending order. */
export function ordinalsOf({ size, list, bits }: OrdinalSet): Int32Array {
  if (list) return list;
  const found = new Int32Array(size);
  let count = 0;
  const words = bits as Int32Array;
  for (let index = 0; index < words.length; index++) {
    let word = words[index] as number;
    while (word !== 0) {
      found[count++] = (index << 5) + (31 - Math.clz32(word & -word));
      word &= word - 1;
    }
  }
  return found;
}

/** Size of the intersection. */
export function countBoth(one: OrdinalSet, other: OrdinalSet): number {
  if (one.bits && other.bits) {
    const length = Math.min(one.bits.length, other.bits.length);
    let size = 0;
    for (let index = 0; index < length; index++)
      size += bitCount((one.bits[index] as number) & (other.bits[index] as number));
    return size;
  }
  return intersect(one, other).size;
}

/** Agents that match the words of a query equally well. */
export interface Band {
  readonly value: number;
  readonly agents: OrdinalSet;
}

/** The agents that match a text, in bands, the best first. */
export type Relevance = readonly Band[];
