import { capacityOf, IntSlab, sizeClassOf, startOf } from './int-slab.ts';
import { emptySet, listSet, lowerBound, type OrdinalSet, ordinalsOf } from './sets.ts';

/** A set of fewer stays a list, however few agents there are. */
const MIN_BITS = 128;
/** Special size class: the set is a bitmap. */
const IS_BITS = 255;

/**
 * Numbered sets of ordinals. A set is a sorted list in a slab; once it has more members than bits have words, it is bits. So it is
 * never larger than an eighth of a byte for each agent.
 */
export class PostingStore {
  readonly #slab = new IntSlab();
  #sizes = new Int32Array(1024);
  #places = new Int32Array(1024);
  #classes = new Uint8Array(1024);
  readonly #bits = new Map<number, Int32Array>();
  /** Length of bits, in words of 32. */
  words = 32;

  /** More than the number of any set. */
  get count(): number {
    return this.#sizes.length;
  }

  size(id: number): number {
    return this.#sizes[id] ?? 0;
  }

  view(id: number): OrdinalSet {
    const size = this.size(id);
    if (size === 0) return emptySet;
    const bits = this.#bitsOf(id);
    return bits ? { size, list: null, bits } : listSet(this.#slab.view(this.#places[id] as number, size));
  }

  has(id: number, ordinal: number): boolean {
    const bits = this.#bitsOf(id);
    if (bits) return (((bits[ordinal >>> 5] as number) >>> (ordinal & 31)) & 1) === 1;
    const { list } = this.view(id);
    return list !== null && list[lowerBound(list, ordinal)] === ordinal;
  }

  /** The ordinal is not in the set yet. */
  add(id: number, ordinal: number): void {
    this.#makeRoom(id);
    const size = this.#sizes[id] as number;
    this.#sizes[id] = size + 1;
    const bits = this.#bitsOf(id);
    if (bits) {
      bits[ordinal >>> 5] = (bits[ordinal >>> 5] as number) | (1 << (ordinal & 31));
      return;
    }
    this.#insert(id, size, ordinal);
    if (size + 1 > Math.max(MIN_BITS, this.words)) this.#toBits(id);
  }

  #bitsOf(id: number): Int32Array | undefined {
    return this.#classes[id] === IS_BITS ? this.#bits.get(id) : undefined;
  }

  #insert(id: number, size: number, ordinal: number): void {
    const sizeClass = this.#classes[id] as number;
    if (size === 0) this.#places[id] = this.#slab.allocate(this.#setClass(id, 0));
    else if (size === capacityOf(sizeClass)) {
      const place = this.#places[id] as number;
      const next = this.#slab.allocate(this.#setClass(id, sizeClass + 1));
      this.#slab.view(next, size).set(this.#slab.view(place, size));
      this.#slab.free(place, sizeClass);
      this.#places[id] = next;
    }
    const place = this.#places[id] as number;
    const page = this.#slab.pageOf(place);
    const start = startOf(place);
    const end = start + size;
    if (size === 0 || (page[end - 1] as number) < ordinal) {
      page[end] = ordinal;
      return;
    }
    const at = lowerBound(page, ordinal, start, end);
    page.copyWithin(at + 1, at, end);
    page[at] = ordinal;
  }

  #setClass(id: number, sizeClass: number): number {
    this.#classes[id] = sizeClass;
    return sizeClass;
  }

  /** The ordinal is in the set. */
  delete(id: number, ordinal: number): void {
    const size = this.#sizes[id] as number;
    const bits = this.#bitsOf(id);
    this.#sizes[id] = size - 1;
    if (bits) {
      bits[ordinal >>> 5] = (bits[ordinal >>> 5] as number) & ~(1 << (ordinal & 31));
      if (size - 1 < Math.max(MIN_BITS, this.words) / 2) this.#toList(id);
      return;
    }
    const place = this.#places[id] as number;
    const page = this.#slab.pageOf(place);
    const start = startOf(place);
    const at = lowerBound(page, ordinal, start, start + size);
    page.copyWithin(at, at + 1, start + size);
    if (size === 1) this.#slab.free(place, this.#classes[id] as number);
  }

  #toBits(id: number): void {
    const size = this.#sizes[id] as number;
    const place = this.#places[id] as number;
    const bits = new Int32Array(this.words);
    for (const ordinal of this.#slab.view(place, size))
      bits[ordinal >>> 5] = (bits[ordinal >>> 5] as number) | (1 << (ordinal & 31));
    this.#slab.free(place, this.#classes[id] as number);
    this.#bits.set(id, bits);
    this.#classes[id] = IS_BITS;
  }

  #toList(id: number): void {
    const list = ordinalsOf(this.view(id));
    this.#bits.delete(id);
    this.#classes[id] = 0;
    if (list.length === 0) return;
    const place = this.#slab.allocate(this.#setClass(id, sizeClassOf(list.length)));
    this.#slab.view(place, list.length).set(list);
    this.#places[id] = place;
  }

  /** Makes room for ordinals below 32 times `words`. */
  grow(words: number): void {
    this.words = words;
    for (const [id, bits] of this.#bits) {
      const wider = new Int32Array(words);
      wider.set(bits);
      this.#bits.set(id, wider);
      if ((this.#sizes[id] as number) < Math.max(MIN_BITS, words) / 2) this.#toList(id);
    }
  }

  #makeRoom(id: number): void {
    if (id < this.#sizes.length) return;
    const length = Math.max(id + 1, Math.ceil(this.#sizes.length * 1.5));
    this.#sizes = widened(this.#sizes, new Int32Array(length));
    this.#places = widened(this.#places, new Int32Array(length));
    this.#classes = widened(this.#classes, new Uint8Array(length));
  }
}

function widened<T extends Int32Array | Uint8Array>(old: T, wider: T): T {
  wider.set(old);
  return wider;
}
