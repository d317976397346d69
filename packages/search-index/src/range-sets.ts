import type { OrdinalSet } from './sets.ts';
import type { SortedList, Spot } from './sorted-list.ts';

/** Number of limits kept as bits, besides none and all. */
const KEPT = 64;
/** A limit is kept when it is further from all others than this part of all agents. */
const STEP = 128;

interface Kept {
  readonly limit: number;
  readonly bits: Int32Array;
  size: number;
  used: number;
}

/**
 * The agents up to a limit of one field, as bits. Some limits are kept; for any other, the bits of the nearest one are copied, and the
 * agents between the two limits are added or left out. So a limit costs the same wherever it lies.
 */
export class RangeSets {
  readonly #list: SortedList;
  readonly #keyOf: (ordinal: number) => number;
  #kept: Kept[] = [];
  #uses = 0;

  /** `keyOf`: a number that ascends along the list. */
  constructor(list: SortedList, keyOf: (ordinal: number) => number) {
    this.#list = list;
    this.#keyOf = keyOf;
  }

  /** The ordinals with keys up to the limit. `words`: the length of bits. */
  upTo(limit: number, words: number): OrdinalSet {
    const exact = this.#kept.find((each) => each.limit === limit);
    if (exact) return this.#asSet(exact);
    const end = this.#spotOf(limit);
    const nearest = this.#nearest(limit, end);
    const bits = nearest.kept?.bits.slice() ?? new Int32Array(words);
    const flip = (ordinal: number) => {
      bits[ordinal >>> 5] = (bits[ordinal >>> 5] as number) ^ (1 << (ordinal & 31));
      return false;
    };
    const isBelow = nearest.distance >= 0;
    this.#list.forward(isBelow ? nearest.spot : end, isBelow ? end : nearest.spot, flip);
    const size = (nearest.kept?.size ?? 0) + nearest.distance;
    if (Math.abs(nearest.distance) * STEP <= this.#list.size) return { size, list: null, bits };
    const kept = { limit, bits, size, used: 0 };
    this.#keep(kept);
    return this.#asSet(kept);
  }

  #asSet(kept: Kept): OrdinalSet {
    kept.used = ++this.#uses;
    return { size: kept.size, list: null, bits: kept.bits };
  }

  #spotOf(limit: number): Spot {
    return this.#list.seek((ordinal) => this.#keyOf(ordinal) > limit);
  }

  /** The nearest kept limit, or none at all, with the number of agents from there up to the end. */
  #nearest(limit: number, end: Spot): { kept: Kept | null; spot: Spot; distance: number } {
    const below = this.#kept.findLast((each) => each.limit < limit) ?? null;
    const above = this.#kept.find((each) => each.limit > limit) ?? null;
    const from = below ? this.#spotOf(below.limit) : this.#list.start;
    const after = this.#list.distance(from, end);
    if (above === null) return { kept: below, spot: from, distance: after };
    const to = this.#spotOf(above.limit);
    const before = this.#list.distance(end, to);
    if (before < after) return { kept: above, spot: to, distance: -before };
    return { kept: below, spot: from, distance: after };
  }

  #keep(kept: Kept): void {
    if (this.#kept.length >= KEPT) {
      const oldest = this.#kept.reduce((least, each) => (each.used < least.used ? each : least));
      this.#kept.splice(this.#kept.indexOf(oldest), 1);
    }
    const at = this.#kept.findIndex((each) => each.limit > kept.limit);
    this.#kept.splice(at === -1 ? this.#kept.length : at, 0, kept);
  }

  /** The agent has its value. */
  add(ordinal: number): void {
    this.#flip(ordinal, 1);
  }

  /** The agent has its value still. */
  delete(ordinal: number): void {
    this.#flip(ordinal, -1);
  }

  #flip(ordinal: number, change: 1 | -1): void {
    const key = this.#keyOf(ordinal);
    for (const kept of this.#kept) {
      if (key > kept.limit) continue;
      kept.bits[ordinal >>> 5] = (kept.bits[ordinal >>> 5] as number) ^ (1 << (ordinal & 31));
      kept.size += change;
    }
  }

  /** The length of bits has changed. */
  clear(): void {
    this.#kept = [];
  }
}
