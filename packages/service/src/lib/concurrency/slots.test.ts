import { expect, it } from 'vitest';
import { createSlots } from './slots.ts';

it('there is room for so much at once, and so much of one key; errors are told and free their place', async () => {
  const errors: unknown[] = [];
  const slots = createSlots({ most: 3, mostOfKey: 2, onError: (error) => errors.push(error) });
  const { promise, resolve } = Promise.withResolvers<void>();
  slots.run('a', () => promise);
  expect(slots.crowded()).toEqual([]);
  slots.run('a', () => promise);
  expect([slots.free(), slots.crowded()]).toEqual([1, ['a']]);
  slots.run('b', async () => {
    throw new Error('no');
  });
  expect(slots.free()).toBe(0);
  resolve();
  await slots.idle();
  expect([slots.free(), slots.crowded(), errors.length]).toEqual([3, [], 1]);
});
