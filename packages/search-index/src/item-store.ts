const SLAB_BYTES = 8 << 20;
/** The first ones are small, as most nodes have few agents. A place counts them like whole ones. */
const FIRST_SLABS_BYTES = [64 << 10, 1 << 20];
const STEP = 64;
const STEPS_OF_SLAB = SLAB_BYTES / STEP;

/**
 * Items as bytes in large buffers outside of the heap. An item longer than a buffer does not occur: list items are of a few kilobytes at
 * most.
 */
export class ItemStore {
  readonly #slabs: Buffer[] = [];
  /** In steps from the start of the first slab. */
  #places = new Int32Array(1024);
  #lengths = new Int32Array(1024);
  readonly #free = new Map<number, number[]>();
  #next = 0;
  /** End of the last slab. */
  #end = 0;

  set(ordinal: number, item: Buffer): void {
    this.#makeRoom(ordinal);
    const steps = stepsOf(item.length);
    const old = stepsOf(this.#lengths[ordinal] as number);
    if (steps !== old) {
      this.#release(ordinal, old);
      this.#places[ordinal] = this.#allocate(steps);
    }
    this.#lengths[ordinal] = item.length;
    const { slab, start } = this.#find(ordinal);
    item.copy(slab, start);
  }

  delete(ordinal: number): void {
    this.#release(ordinal, stepsOf(this.#lengths[ordinal] as number));
    this.#lengths[ordinal] = 0;
  }

  /** Copies of the items. */
  read(ordinals: readonly number[]): Buffer[] {
    let size = 0;
    for (const ordinal of ordinals) size += this.#lengths[ordinal] as number;
    const all = Buffer.allocUnsafe(size);
    let end = 0;
    return ordinals.map((ordinal) => {
      const { slab, start } = this.#find(ordinal);
      const from = end;
      end += slab.copy(all, from, start, start + (this.#lengths[ordinal] as number));
      return all.subarray(from, end);
    });
  }

  #find(ordinal: number): { slab: Buffer; start: number } {
    const place = (this.#places[ordinal] as number) * STEP;
    return { slab: this.#slabs[Math.floor(place / SLAB_BYTES)] as Buffer, start: place % SLAB_BYTES };
  }

  #allocate(steps: number): number {
    const reused = this.#free.get(steps)?.pop();
    if (reused !== undefined) return reused;
    if (steps > STEPS_OF_SLAB) throw new RangeError('a list item is longer than a buffer');
    while (this.#end - this.#next < steps) this.#addSlab();
    const place = this.#next;
    this.#next += steps;
    return place;
  }

  #addSlab(): void {
    const bytes = FIRST_SLABS_BYTES[this.#slabs.length] ?? SLAB_BYTES;
    this.#next = this.#slabs.length * STEPS_OF_SLAB;
    this.#end = this.#next + bytes / STEP;
    this.#slabs.push(Buffer.allocUnsafeSlow(bytes));
  }

  #release(ordinal: number, steps: number): void {
    if (steps === 0) return;
    const freed = this.#free.get(steps);
    if (freed) freed.push(this.#places[ordinal] as number);
    else this.#free.set(steps, [this.#places[ordinal] as number]);
  }

  #makeRoom(ordinal: number): void {
    if (ordinal < this.#places.length) return;
    const length = Math.ceil(this.#places.length * 1.5);
    const [places, lengths] = [new Int32Array(length), new Int32Array(length)];
    places.set(this.#places);
    lengths.set(this.#lengths);
    this.#places = places;
    this.#lengths = lengths;
  }
}

const stepsOf = (bytes: number): number => Math.ceil(bytes / STEP);
