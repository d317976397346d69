import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createPoller } from './poller.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('polls once for all waiters, continues after an error, and stops without waiters', async () => {
  let waiters = 2;
  let polls = 0;
  const errors: unknown[] = [];
  const poller = createPoller({
    intervalMs: 100,
    async poll() {
      polls += 1;
      if (polls === 1) throw new Error('no');
    },
    hasWaiters: () => waiters > 0,
    onError: (error) => errors.push(error),
  });
  await vi.advanceTimersByTimeAsync(1000);
  expect(polls).toBe(0);
  poller.start();
  poller.start();
  await vi.advanceTimersByTimeAsync(250);
  expect([polls, errors]).toEqual([2, [new Error('no')]]);
  waiters = 0;
  await vi.advanceTimersByTimeAsync(1000);
  expect(polls).toBe(3);
  poller.start();
  await vi.advanceTimersByTimeAsync(1000);
  expect(polls).toBe(4);
});
