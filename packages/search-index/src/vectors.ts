/** Places of a chunk. */
export const CHUNK_PLACES = 4096;

/** A part of the vectors, in memory that threads share. Agents are in it by place: their ordinal modulo `CHUNK_PLACES`. */
export interface VectorChunk {
  /** Eight-bit numbers; all 0: the agent has no vector. Their length says nothing, only their direction. */
  readonly numbers: SharedArrayBuffer;
  /** Changes with every change of a vector, after it. */
  readonly stamps: SharedArrayBuffer;
  /** Time of storing the vector, in milliseconds; 0: none. */
  readonly times: SharedArrayBuffer;
}

interface ChunkView {
  readonly numbers: Uint8Array;
  readonly stamps: Int32Array;
  readonly times: Float64Array;
}

/** The vectors of the agents' texts, by ordinal. One thread writes; others may read, and see at worst a vector that is half a new one. */
export class Vectors {
  readonly chunks: VectorChunk[] = [];
  /** Numbers of a vector; 0: not known before the first one. */
  dimensions = 0;
  /** Number of agents with a vector. */
  size = 0;
  /** Time of the latest vector. */
  newestMs = 0;
  readonly #views: ChunkView[] = [];
  #changes = 0;
  /** By ordinal, the change that last gave it to another agent. */
  #givenAt = new Float64Array(1024);

  /** Number of changes of owner so far. */
  get changes(): number {
    return this.#changes;
  }

  /** Sets the vector; one of another length than the first is none. */
  set(ordinal: number, vector: Uint8Array, timeMs: number): void {
    this.dimensions ||= vector.length;
    const isUsable = vector.length === this.dimensions && vector.some((byte) => byte !== 0);
    if (isUsable) this.newestMs = Math.max(this.newestMs, timeMs);
    this.#write(ordinal, isUsable ? vector : null, timeMs);
  }

  clear(ordinal: number): void {
    this.#write(ordinal, null, 0);
  }

  /** The place is no longer this agent's. */
  giveUp(ordinal: number): void {
    this.clear(ordinal);
    if (ordinal >= this.#givenAt.length) {
      const grown = new Float64Array(Math.max(ordinal + 1, this.#givenAt.length * 2));
      grown.set(this.#givenAt);
      this.#givenAt = grown;
    }
    this.#givenAt[ordinal] = ++this.#changes;
  }

  /** True if the ordinal has been the same agent's since there were so many changes. */
  isSame(ordinal: number, changes: number): boolean {
    return (this.#givenAt[ordinal] ?? 0) <= changes;
  }

  /** Time of storing the agent's vector; null: it has none. */
  timeOf(ordinal: number): number | null {
    return this.#views[Math.floor(ordinal / CHUNK_PLACES)]?.times[ordinal % CHUNK_PLACES] || null;
  }

  #write(ordinal: number, vector: Uint8Array | null, timeMs: number): void {
    const had = this.timeOf(ordinal) !== null;
    if (!had && vector === null) return;
    const index = Math.floor(ordinal / CHUNK_PLACES);
    while (this.chunks.length <= index) this.#addChunk();
    const { numbers, stamps, times } = this.#views[index] as ChunkView;
    const place = ordinal % CHUNK_PLACES;
    const start = place * this.dimensions;
    if (vector) numbers.set(vector, start);
    else numbers.fill(0, start, start + this.dimensions);
    times[place] = vector ? timeMs : 0;
    Atomics.add(stamps, place, 1);
    this.size += Number(vector !== null) - Number(had);
  }

  #addChunk(): void {
    const numbers = new SharedArrayBuffer(CHUNK_PLACES * this.dimensions);
    const stamps = new SharedArrayBuffer(CHUNK_PLACES * Int32Array.BYTES_PER_ELEMENT);
    const times = new SharedArrayBuffer(CHUNK_PLACES * Float64Array.BYTES_PER_ELEMENT);
    this.chunks.push({ numbers, stamps, times });
    this.#views.push({
      numbers: new Uint8Array(numbers),
      stamps: new Int32Array(stamps),
      times: new Float64Array(times),
    });
  }
}
