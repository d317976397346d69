import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { endsWithin, within } from './within.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('work that ends in time gives its result or its error, and leaves no timer behind', async () => {
  expect(await within(Promise.resolve('done'), 1000, 'late')).toBe('done');
  await expect(within(Promise.reject(new Error('broken')), 1000, 'late')).rejects.toThrow('broken');
  expect(vi.getTimerCount()).toBe(0);
});

it('work that takes too long is not awaited, and its later failure is not reported', async () => {
  const { promise, reject } = Promise.withResolvers<string>();
  const waited = within(promise, 1000, 'late');
  await vi.advanceTimersByTimeAsync(999);
  expect(vi.getTimerCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(await waited).toBe('late');
  reject(new Error('later'));
  await promise.catch(() => undefined);
});

it('reports if work ended in time, also for failed work', async () => {
  expect(await endsWithin(Promise.reject(new Error('broken')), 1000)).toBe(true);
  const never = endsWithin(new Promise(() => undefined), 1000);
  await vi.advanceTimersByTimeAsync(1000);
  expect(await never).toBe(false);
});
