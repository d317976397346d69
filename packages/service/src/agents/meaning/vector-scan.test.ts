import { Vectors } from '@agent-network/search-index/vectors';
import { expect, test } from 'vitest';
import { toBytes } from './text-model.ts';
import { createVectorScan, MAX_EXACT } from './vector-scan.ts';

const DIMENSIONS = 64;

/** The same numbers for the same seed, -1 to 1. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return state / 2 ** 31;
  };
}

/** Vectors that crowd together, as those of texts do. */
function crowded(seed: number): (near?: Float32Array) => Float32Array {
  const next = numbersFrom(seed);
  const middle = Float32Array.from({ length: DIMENSIONS }, next);
  return (near = middle) => near.map((value) => value + next());
}

const cosine = (a: Float32Array, b: Float32Array) =>
  a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0) / Math.hypot(...a) / Math.hypot(...b);

const bitsOf = (places: readonly number[], length: number) => {
  const bits = new Int32Array(Math.ceil(length / 32));
  for (const place of places) bits[place >>> 5] = (bits[place >>> 5] ?? 0) | (1 << (place & 31));
  return bits;
};

function world(count: number) {
  const make = crowded(7);
  const texts = Array.from({ length: count }, () => make());
  const vectors = new Vectors();
  for (const [place, text] of texts.entries()) vectors.set(place, toBytes(text), place + 1);
  const { scan } = createVectorScan();
  const all = { among: null, having: new Int32Array(0), asOfMs: count };
  const closestTo = (vector: Float32Array, more: Partial<Parameters<typeof scan>[0]> = {}) =>
    scan({ name: 1, chunks: vectors.chunks, vector, ...all, ...more });
  const naive = (vector: Float32Array, limit: number) =>
    texts
      .map((text, place) => ({ place, cosine: cosine(text, vector) }))
      .sort((a, b) => b.cosine - a.cosine)
      .slice(0, limit)
      .map(({ place }) => place);
  return { make, texts, vectors, closestTo, naive };
}

test('of few, the closest are found with their cosines', () => {
  const { make, texts, closestTo, naive } = world(300);
  const vector = make(texts[5]);
  const { places, cosines } = closestTo(vector);
  expect(places).toHaveLength(200);
  const top = naive(vector, 20);
  expect(places.slice(0, 30)).toEqual(expect.arrayContaining(top));
  for (const [index, place] of places.entries())
    expect(cosines[index]).toBeCloseTo(cosine(texts[place] as Float32Array, vector), 1);
  expect(cosines).toEqual(cosines.toSorted((a, b) => b - a));
});

test('of many, nearly all of the closest are found by their signs', () => {
  const { make, texts, closestTo, naive } = world(MAX_EXACT * 3);
  let both = 0;
  for (let nth = 0; nth < 5; nth++) {
    const vector = make(texts[nth * 31]);
    const { places } = closestTo(vector);
    both += naive(vector, 10).filter((place) => places.slice(0, 20).includes(place)).length;
  }
  // By chance it were a twelfth.
  expect(both / 50).toBeGreaterThan(0.8);
});

test.each([300, MAX_EXACT + 500])('conditions hold, of %i', (count) => {
  const { make, closestTo } = world(count);
  const vector = make();
  const even = Array.from({ length: count / 2 }, (_, index) => index * 2);
  expect(closestTo(vector, { among: bitsOf(even, count) }).places.every((place) => place % 2 === 0)).toBe(true);
  expect(closestTo(vector, { among: bitsOf([4, 70, count + 9], count + 64) }).places.toSorted((a, b) => a - b)).toEqual(
    [4, 70],
  );
  // Those of few that have words are found however far they are, and each once.
  const { places } = closestTo(vector, { among: bitsOf([1], count), having: bitsOf([1, 3], count) });
  expect(places.toSorted((a, b) => a - b)).toEqual([1, 3]);
  expect(closestTo(vector, { asOfMs: 100 }).places.every((place) => place < 100)).toBe(true);
  expect(closestTo(vector, { asOfMs: 0 }).places).toEqual([]);
});

test.each([50, MAX_EXACT + 500])('what changed is read again, and what is gone is not found, of %i', (count) => {
  const { make, texts, vectors, closestTo } = world(count);
  const vector = make(texts[3]);
  closestTo(vector);
  vectors.set(9, toBytes(vector), 10);
  expect(closestTo(vector).places[0]).toBe(9);
  vectors.giveUp(9);
  expect(closestTo(vector).places).not.toContain(9);
  vectors.set(count, toBytes(vector), 1);
  expect(closestTo(vector).places[0]).toBe(count);
  const other = new Vectors();
  other.set(0, toBytes(make()), 1);
  expect(closestTo(vector, { name: 2, chunks: other.chunks }).places).toEqual([0]);
});
