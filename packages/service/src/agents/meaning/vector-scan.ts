import { bitCount } from '@agent-network/search-index/sets';
import { CHUNK_PLACES, type VectorChunk } from '@agent-network/search-index/vectors';

/** Vectors to look through, and the one that they are compared with. */
export interface ScanJob {
  /** Name of the vectors. A job with another name starts from nothing. */
  readonly name: number;
  readonly chunks: readonly VectorChunk[];
  readonly vector: Float32Array;
  /** Candidates as bits by place; null: all. */
  readonly among: Int32Array | null;
  /** Candidates of which the closest are wanted as well. */
  readonly having: Int32Array;
  /** Later vectors are left out. */
  readonly asOfMs: number;
}

/** Places with their cosines, each once. */
export interface ScanResult {
  readonly places: readonly number[];
  readonly cosines: readonly number[];
}

/** Number of the closest that are found: of all candidates, and of those of `having`. */
const CLOSEST = 200;
const CLOSEST_HAVING = 100;
/** Maximum number of candidates to compare by all numbers. Of more, the signs choose. */
export const MAX_EXACT = 4096;
const REREAD = 1000;
/** Number of vectors that the mean is taken of, and growth after which it is taken again. */
const MEAN_SAMPLE = 4096;
const GROWTH = 4;
const CHUNK_SHIFT = Math.log2(CHUNK_PLACES);

/** A chunk as this thread sees it. */
interface Part {
  readonly numbers: Int8Array;
  readonly stamps: Int32Array;
  readonly times: Float64Array;
}

/**
 * Finds the closest vectors by looking through all. Those of texts crowd together, so the mean is subtracted before signs are taken: by
 * these a million are compared in some 40 ms, and the best 1,000 are then compared by all numbers.
 */
export function createVectorScan(): { scan(job: ScanJob): ScanResult } {
  let name: number | null = null;
  let vectors = new ReadVectors(0);

  return {
    scan(job) {
      if (job.name !== name) vectors = new ReadVectors(job.vector.length);
      name = job.name;
      vectors.catchUp(job.chunks);
      const close = vectors.closest(vectors.candidates(job.among, job.asOfMs), job.vector, CLOSEST);
      const having = vectors.closest(vectors.candidates(job.having, job.asOfMs), job.vector, CLOSEST_HAVING);
      const found = new Map([...close, ...having]);
      return { places: [...found.keys()], cosines: [...found.values()] };
    },
  };
}

class ReadVectors {
  readonly #dimensions: number;
  readonly #words: number;
  readonly #parts: Part[] = [];
  /** By place: the stamp of the vector that was read, and its length; 0: none. */
  #seen = new Int32Array(0);
  #lengths = new Float32Array(0);
  /** By place: signs of the direction minus the mean. */
  #signs = new Int32Array(0);
  #size = 0;
  #mean: Float32Array | null = null;
  #sizeOfMean = 0;

  constructor(dimensions: number) {
    this.#dimensions = dimensions;
    this.#words = Math.ceil(dimensions / 32);
  }

  /** Reads what has changed. */
  catchUp(chunks: readonly VectorChunk[]): void {
    for (const { numbers, stamps, times } of chunks.slice(this.#parts.length))
      this.#parts.push({
        numbers: new Int8Array(numbers),
        stamps: new Int32Array(stamps),
        times: new Float64Array(times),
      });
    this.#makeRoom(this.#parts.length * CHUNK_PLACES);
    for (const [index, part] of this.#parts.entries()) {
      const first = index * CHUNK_PLACES;
      for (let at = 0; at < CHUNK_PLACES; at++) {
        // Before the numbers: a vector that is changed while it is read is read again.
        const stamp = Atomics.load(part.stamps, at);
        if (this.#seen[first + at] === stamp) continue;
        this.#seen[first + at] = stamp;
        this.#read(first + at);
      }
    }
    if (this.#size > MAX_EXACT && this.#size >= this.#sizeOfMean * GROWTH) this.#centre();
  }

  /** Places of vectors, ascending. `mask`: of these only. */
  candidates(mask: Int32Array | null, asOfMs: number): Int32Array {
    const found = new Int32Array(this.#size);
    let count = 0;
    for (const [index, { times }] of this.#parts.entries()) {
      const first = index * CHUNK_PLACES;
      for (let at = 0; at < CHUNK_PLACES; at += 32) {
        const bits = mask === null ? -1 : (mask[(first + at) >>> 5] ?? 0);
        if (bits === 0) continue;
        for (let bit = 0; bit < 32; bit++) {
          const place = first + at + bit;
          if ((bits >>> bit) & 1 && this.#lengths[place] !== 0 && (times[at + bit] as number) <= asOfMs)
            found[count++] = place;
        }
      }
    }
    return found.subarray(0, count);
  }

  /** The closest of the candidates with their cosines, the closest first. */
  closest(candidates: Int32Array, vector: Float32Array, limit: number): [place: number, cosine: number][] {
    const few = candidates.length > MAX_EXACT ? this.#likely(candidates, vector) : candidates;
    const length = Math.hypot(...vector) || 1;
    const all = Array.from(few, (place): [number, number] => [place, this.#dot(place, vector) / length]);
    return all.sort(([a, one], [b, other]) => other - one || a - b).slice(0, limit);
  }

  #makeRoom(places: number): void {
    if (places <= this.#seen.length) return;
    const room = Math.max(places, Math.ceil(this.#seen.length * 1.25));
    const grown = <T extends Int32Array | Float32Array>(made: T, old: T): T => {
      made.set(old);
      return made;
    };
    this.#seen = grown(new Int32Array(room), this.#seen);
    this.#lengths = grown(new Float32Array(room), this.#lengths);
    this.#signs = grown(new Int32Array(room * this.#words), this.#signs);
  }

  /** The numbers at a place, and where they begin. */
  #at(place: number): { readonly numbers: Int8Array; readonly start: number } {
    const { numbers } = this.#parts[place >>> CHUNK_SHIFT] as Part;
    return { numbers, start: (place & (CHUNK_PLACES - 1)) * this.#dimensions };
  }

  #read(place: number): void {
    const { numbers, start } = this.#at(place);
    let squares = 0;
    for (let at = start; at < start + this.#dimensions; at++) {
      const number = numbers[at] as number;
      squares += number * number;
    }
    this.#size += Number(squares > 0) - Number(this.#lengths[place] !== 0);
    this.#lengths[place] = Math.sqrt(squares);
    if (this.#mean) this.#takeSigns(place, this.#mean);
  }

  /** Takes the mean of a sample, and then all signs. */
  #centre(): void {
    const all = this.candidates(null, Number.POSITIVE_INFINITY);
    const count = Math.min(all.length, MEAN_SAMPLE);
    const mean = new Float32Array(this.#dimensions);
    for (let nth = 0; nth < count; nth++) {
      const place = all[Math.floor((nth * all.length) / count)] as number;
      const { numbers, start } = this.#at(place);
      const share = 1 / (this.#lengths[place] as number) / count;
      for (let at = 0; at < mean.length; at++)
        mean[at] = (mean[at] as number) + (numbers[start + at] as number) * share;
    }
    this.#mean = mean;
    this.#sizeOfMean = this.#size;
    for (const place of all) this.#takeSigns(place, mean);
  }

  #takeSigns(place: number, mean: Float32Array): void {
    const { numbers, start } = this.#at(place);
    const vector = numbers.subarray(start, start + this.#dimensions);
    writeSigns(this.#signs, place * this.#words, vector, this.#lengths[place] as number, mean);
  }

  /** The candidates with the most signs of the vector: at least `REREAD`, and all with as many as the last of them. */
  #likely(candidates: Int32Array, vector: Float32Array): Int32Array {
    const words = this.#words;
    const signs = this.#signs;
    const asked = new Int32Array(words);
    writeSigns(asked, 0, vector, Math.hypot(...vector), this.#mean as Float32Array);
    const distances = new Uint16Array(candidates.length);
    const counts = new Int32Array(this.#dimensions + 1);
    for (let index = 0; index < candidates.length; index++) {
      const start = (candidates[index] as number) * words;
      let distance = 0;
      for (let word = 0; word < words; word++)
        distance += bitCount((signs[start + word] as number) ^ (asked[word] as number));
      distances[index] = distance;
      counts[distance] = (counts[distance] as number) + 1;
    }
    let most = 0;
    for (let sum = counts[0] as number; sum < REREAD; sum += counts[most] as number) most++;
    const likely: number[] = [];
    for (let index = 0; index < candidates.length; index++)
      if ((distances[index] as number) <= most) likely.push(candidates[index] as number);
    return Int32Array.from(likely);
  }

  /** With the direction of the vector at a place. */
  #dot(place: number, vector: Float32Array): number {
    const { numbers, start } = this.#at(place);
    let sum = 0;
    for (let at = 0; at < vector.length; at++) sum += (numbers[start + at] as number) * (vector[at] as number);
    return sum / (this.#lengths[place] as number);
  }
}

/** Writes for each number whether its part of the direction is above the mean's. */
function writeSigns(
  into: Int32Array,
  from: number,
  vector: Float32Array | Int8Array,
  length: number,
  mean: Float32Array,
): void {
  for (let at = 0; at < vector.length; at += 32) {
    let bits = 0;
    for (let bit = 0; bit < 32 && at + bit < vector.length; bit++)
      if ((vector[at + bit] as number) > (mean[at + bit] as number) * length) bits |= 1 << bit;
    into[from + (at >>> 5)] = bits;
  }
}
