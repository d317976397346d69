const PAGE_BITS = 20;
const PAGE = 1 << PAGE_BITS;
/** In integers. The first pages are small, as most nodes have few agents. A place counts them like whole ones. */
const FIRST_PAGES = [1 << 13, 1 << 17];

/** Sizes of blocks: all up to eight, then four between powers of two. */
const sizes: readonly number[] = [1, 2, 3, 4, 5, 6, 7].concat(
  Array.from({ length: 64 }, (_, index) => (4 + (index & 3)) << ((index >> 2) + 1)),
);

/** The smallest class of blocks that hold `count` integers. */
export function sizeClassOf(count: number): number {
  if (count < 8) return count - 1;
  const exponent = 31 - Math.clz32(count - 1);
  return 7 + (exponent - 3) * 4 + (((count - 1) >>> (exponent - 2)) & 3) + 1;
}

export const capacityOf = (sizeClass: number): number => sizes[sizeClass] as number;

/** Blocks of 32-bit integers out of large pages: millions of small lists without an object each. */
export class IntSlab {
  readonly #pages: Int32Array[] = [];
  readonly #free: number[][] = sizes.map(() => []);
  #next = 0;
  /** End of the last page. */
  #end = 0;

  /** The place of a block with room for `capacityOf(sizeClass)` integers. */
  allocate(sizeClass: number): number {
    const reused = this.#free[sizeClass]?.pop();
    if (reused !== undefined) return reused;
    const size = capacityOf(sizeClass);
    if (size > PAGE) throw new RangeError('a block is longer than a page');
    while (this.#end - this.#next < size) this.#addPage();
    const at = this.#next;
    this.#next += size;
    return at;
  }

  #addPage(): void {
    const page = new Int32Array(FIRST_PAGES[this.#pages.length] ?? PAGE);
    this.#next = this.#pages.length * PAGE;
    this.#end = this.#next + page.length;
    this.#pages.push(page);
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
