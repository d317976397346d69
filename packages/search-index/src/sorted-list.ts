const CHUNK_SIZE = 512;

/** A position: a chunk, and an index in it. */
export interface Spot {
  readonly chunk: number;
  readonly index: number;
}

/**
 * Numbers ordered by a comparison, in chunks: a change moves at most one chunk. `compare` must return 0 only for a number and itself, and
 * is called only while both have the values that they were added with.
 */
export class SortedList {
  #chunks: Int32Array[] = [];
  #lengths: number[] = [];
  #size = 0;
  readonly #compare: (a: number, b: number) => number;

  constructor(compare: (a: number, b: number) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#size;
  }

  /** Takes these numbers, which are in order, in place of all. */
  fill(sorted: Int32Array): void {
    this.#chunks = [];
    this.#lengths = [];
    this.#size = sorted.length;
    const step = (CHUNK_SIZE * 3) / 4;
    for (let start = 0; start < sorted.length; start += step) {
      const chunk = new Int32Array(CHUNK_SIZE);
      const part = sorted.subarray(start, start + step);
      chunk.set(part);
      this.#chunks.push(chunk);
      this.#lengths.push(part.length);
    }
  }

  add(value: number): void {
    this.#size++;
    if (this.#chunks.length === 0) {
      this.#chunks.push(new Int32Array(CHUNK_SIZE));
      this.#lengths.push(0);
    }
    const found = this.seek((each) => this.#compare(each, value) >= 0);
    const isPast = found.chunk === this.#chunks.length;
    const at = isPast ? found.chunk - 1 : found.chunk;
    const chunk = this.#chunks[at] as Int32Array;
    const length = this.#lengths[at] as number;
    const index = isPast ? length : found.index;
    chunk.copyWithin(index + 1, index, length);
    chunk[index] = value;
    this.#lengths[at] = length + 1;
    if (length + 1 === CHUNK_SIZE) this.#split(at);
  }

  #split(at: number): void {
    const chunk = this.#chunks[at] as Int32Array;
    const half = CHUNK_SIZE / 2;
    const second = new Int32Array(CHUNK_SIZE);
    second.set(chunk.subarray(half));
    this.#chunks.splice(at + 1, 0, second);
    this.#lengths.splice(at, 1, half, half);
  }

  delete(value: number): void {
    const { chunk: at, index } = this.seek((each) => this.#compare(each, value) >= 0);
    const chunk = this.#chunks[at];
    if (chunk?.[index] !== value) throw new Error('a sorted list lacks a value that it should have');
    const length = (this.#lengths[at] as number) - 1;
    chunk.copyWithin(index, index + 1, length + 1);
    this.#lengths[at] = length;
    this.#size--;
    if (length > 0) return;
    this.#chunks.splice(at, 1);
    this.#lengths.splice(at, 1);
  }

  /** The first spot at which the test holds; it holds for all that follow. At the end: the spot behind the last chunk. */
  seek(test: (value: number) => boolean): Spot {
    let low = 0;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const last = (this.#chunks[middle] as Int32Array)[(this.#lengths[middle] as number) - 1] as number;
      if ((this.#lengths[middle] as number) > 0 && test(last)) high = middle;
      else low = middle + 1;
    }
    if (low === this.#chunks.length) return { chunk: low, index: 0 };
    const chunk = this.#chunks[low] as Int32Array;
    let from = 0;
    let to = this.#lengths[low] as number;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (test(chunk[middle] as number)) to = middle;
      else from = middle + 1;
    }
    return { chunk: low, index: from };
  }

  get start(): Spot {
    return { chunk: 0, index: 0 };
  }

  get end(): Spot {
    return { chunk: this.#chunks.length, index: 0 };
  }

  /** Number of entries from one spot up to another, which is excluded. */
  distance(from: Spot, to: Spot): number {
    let count = to.index - from.index;
    for (let chunk = from.chunk; chunk < to.chunk; chunk++) count += this.#lengths[chunk] as number;
    return count;
  }

  /** Visits values in ascending order from a spot up to another, excluding it, until `visit` returns true; returns whether it did. */
  forward(from: Spot, to: Spot, visit: (value: number) => boolean): boolean {
    for (let at = from.chunk; at <= to.chunk && at < this.#chunks.length; at++) {
      const chunk = this.#chunks[at] as Int32Array;
      const until = at === to.chunk ? to.index : (this.#lengths[at] as number);
      for (let index = at === from.chunk ? from.index : 0; index < until; index++)
        if (visit(chunk[index] as number)) return true;
    }
    return false;
  }

  /** Visits values in descending order: from just before `to` down to `from`. */
  backward(from: Spot, to: Spot, visit: (value: number) => boolean): boolean {
    for (let at = Math.min(to.chunk, this.#chunks.length - 1); at >= from.chunk; at--) {
      const chunk = this.#chunks[at] as Int32Array;
      const least = at === from.chunk ? from.index : 0;
      const until = at === to.chunk ? to.index : (this.#lengths[at] as number);
      for (let index = until - 1; index >= least; index--) if (visit(chunk[index] as number)) return true;
    }
    return false;
  }
}
