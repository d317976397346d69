import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createFairPace, type FairPace } from './fair-pace.ts';

const ofOne = { perS: 100, burst: 50 };
const ofAll = { perS: 400, burst: 50 };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A party that always has more work of weight 10; counts what it did. */
function greedy(pace: FairPace, party: string, inLines = 1): () => number {
  let done = 0;
  const work = async () => {
    for (;;) {
      await pace.take(party, 10);
      done += 10;
    }
  };
  for (let line = 0; line < inLines; line++) void work();
  return () => done;
}

it('a party does its burst at once and no more than its rate after it, in however many lines it works', async () => {
  const done = greedy(createFairPace({ ofOne, ofAll }), 'one', 20);
  await vi.advanceTimersByTimeAsync(0);
  expect(done()).toBe(60);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(done()).toBeGreaterThanOrEqual(1050);
  expect(done()).toBeLessThanOrEqual(1070);
});

it('many parties share the rate of all evenly, and one that does little hardly waits', async () => {
  const pace = createFairPace({ ofOne, ofAll });
  const counts = Array.from({ length: 16 }, (_, nth) => greedy(pace, `greedy ${nth}`, 5));
  // What the first did alone is evened out.
  await vi.advanceTimersByTimeAsync(30_000);
  const before = counts.map((count) => count());
  await vi.advanceTimersByTimeAsync(10_000);
  const done = counts.map((count, nth) => count() - (before[nth] ?? 0));
  expect(done.reduce((sum, each) => sum + each)).toBeLessThanOrEqual(400 * 10 + 10);
  expect(Math.max(...done) - Math.min(...done)).toBeLessThanOrEqual(10);
  for (let nth = 0; nth < 10; nth++) {
    await vi.advanceTimersByTimeAsync(1000);
    let hasTaken = false;
    void pace.take('modest', 10).then(() => {
      hasTaken = true;
    });
    // One work of another's at the rate of all.
    await vi.advanceTimersByTimeAsync(26);
    expect(hasTaken).toBe(true);
  }
});

it('aborted work stops waiting, uses nothing, and delays no other work', async () => {
  const pace = createFairPace({ ofOne, ofAll });
  await pace.take('one', 1000);
  const over = new AbortController();
  const givenUp = pace.take('one', 1_000_000, over.signal);
  const other = pace.take('other', 10);
  over.abort();
  await givenUp;
  await vi.advanceTimersByTimeAsync(2400);
  await other;
  const next = pace.take('one', 10);
  await vi.advanceTimersByTimeAsync(7200);
  await next;
  await pace.take('one', 10, AbortSignal.abort());
});
