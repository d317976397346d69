const PAGE_BITS = 20;
const PAGE = 1 << PAGE_BITS;

/** Sizes of blocks: powers of two, and half-way between. */
const sizes: readonly number[] = Array.from({ length: 36 }, (_, index) =>
  index % 2 === 0 ? 1 << (index >> 1) : 3 << ((index - 1) >> 1),
).sort((a, b) => a - b);

/** The smallest class of blocks that hold `count` integers. */
export function sizeClassOf(count: number): number {
  let index = 0;
  while ((sizes[index] as number) < count) index++;
  return index;
}

export const capacityOf = (sizeClass: number): number => sizes[sizeClass] as number;

/** Blocks of 32-bit integers out of large pages: millions of small lists without an object each. */
export class IntSlab {
  readonly #pages: Int32Array[] = [];
  readonly #free: number[][] = sizes.map(() => []);
  #next = 0;

  /** The place of a block with room for `capacityOf(sizeClass)` integers. */
  allocate(sizeClass: number): number {
    const reused = this.#free[sizeClass]?.pop();
    if (reused !== undefined) return reused;
    const size = capacityOf(sizeClass);
    const left = this.#pages.length * PAGE - this.#next;
    if (left < size) {
      this.#pages.push(new Int32Array(PAGE));
      this.#next = (this.#pages.length - 1) * PAGE;
    }
    const at = this.#next;
    this.#next += size;
    return at;
  }

  free(at: number, sizeClass: number): void {
    this.#free[sizeClass]?.push(at);
  }

  pageOf(at: number): Int32Array {
    return this.#pages[at >>> PAGE_BITS] as Int32Array;
  }

  /** A view of the block: good until it is freed. */
  view(at: number, length: number): Int32Array {
    const start = at & (PAGE - 1);
    return this.pageOf(at).subarray(start, start + length);
  }
}

export const startOf = (at: number): number => at & (PAGE - 1);
