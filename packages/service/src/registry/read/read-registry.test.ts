import { expect, it } from 'vitest';
import { afterAnswer, afterRefusal, firstWindow, type ReadWindow } from './read-registry.ts';

const answered = (window: ReadWindow, logs = 0): ReadWindow => afterAnswer(window, logs, window.blocks);
const refused = (window: ReadWindow): ReadWindow => afterRefusal(window);
const times = (count: number, window: ReadWindow, step: (window: ReadWindow) => ReadWindow): ReadWindow =>
  count === 0 ? window : times(count - 1, step(window), step);

it('is halved by refusals, down to one block', () => {
  expect(afterRefusal(firstWindow).blocks).toBe(1000n);
  expect(afterRefusal(firstWindow, 100n).blocks).toBe(50n);
  expect(times(20, firstWindow, refused)).toEqual({ blocks: 1n, doublesUpTo: 1n });
});

it('grows while answers have few logs, up to 100,000 blocks', () => {
  expect(answered(firstWindow).blocks).toBe(4000n);
  expect(times(20, firstWindow, answered).blocks).toBe(100_000n);
  expect(answered(firstWindow, 5000).blocks).toBe(2000n);
  expect(answered(firstWindow, 10_001).blocks).toBe(1000n);
});

it('does not grow by answers about fewer blocks, as they come at the head', () => {
  expect(afterAnswer(firstWindow, 0, 1n).blocks).toBe(2000n);
});

it('comes back to where it was refused rarely, and gets beyond when that was for once', () => {
  const limit = 10_000n;
  let window = firstWindow;
  let refusals = 0;
  for (let turn = 0; turn < 200; turn++) {
    const isRefused = window.blocks > limit;
    if (isRefused) refusals += 1;
    window = isRefused ? afterRefusal(window) : answered(window);
  }
  expect(refusals).toBeLessThan(25);
  expect(window.blocks).toBeGreaterThan(4000n);
  expect(times(300, times(20, firstWindow, refused), answered).blocks).toBe(100_000n);
});
