import { expect, it } from 'vitest';
import { removeForARound } from './retention.ts';

/** Removes from a store of so many rows; a step may remove fewer than it could. */
function storeOf(rows: number, maxPerStep: number) {
  const store = {
    rows,
    steps: 0,
    async removeSome(most: number) {
      const removed = Math.min(most, maxPerStep, store.rows);
      store.rows -= removed;
      store.steps += 1;
      return removed;
    },
  };
  return store;
}

it.each([
  ['none', 0, 1000],
  ['a few', 7, 1000],
  ['exactly a step', 1000, 1000],
  ['more than a node stores in a minute', 60_000, 1000],
  ['large ones, of which a step removes few', 100, 3],
])('a round removes all that is due: %s', async (_, rows, maxPerStep) => {
  const store = storeOf(rows, maxPerStep);
  expect(await removeForARound(store.removeSome)).toBe(true);
  expect(store.rows).toBe(0);
});

it('a round ends when its time is over, after whole steps, and tells that something is left', async () => {
  const store = storeOf(5000, 1000);
  expect(await removeForARound(store.removeSome, { roundMs: 0 })).toBe(false);
  expect(store).toMatchObject({ rows: 4000, steps: 1 });
});
