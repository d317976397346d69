import { expect, test } from 'vitest';
import { createBatcher } from './batcher.ts';
import { createSemaphore } from './semaphore.ts';

test('batchers that share a semaphore never run at the same time, and each runs with all that gathered', async () => {
  const semaphore = createSemaphore();
  const log: string[] = [];
  let runningCount = 0;
  const make = (name: string) =>
    createBatcher<number, number>({
      maxSize: 100,
      semaphore,
      async run(items) {
        runningCount++;
        expect(runningCount).toBe(1);
        log.push(`${name} ${items.length}`);
        await new Promise((resolve) => setTimeout(resolve, 1));
        runningCount--;
        return items;
      },
    });
  const [one, two, three] = [make('one'), make('two'), make('three')];
  const again = async (batcher: typeof one, times: number): Promise<void> => {
    for (let time = 0; time < times; time++) await batcher.add(time);
  };
  await Promise.all([one, two, three].flatMap((batcher) => Array.from({ length: 5 }, () => again(batcher, 3))));
  expect(log.toSorted()).toEqual(['one', 'two', 'three'].flatMap((name) => Array(3).fill(`${name} 5`)).toSorted());
});

test('a batch that fails releases its permit', async () => {
  const semaphore = createSemaphore();
  const failing = createBatcher<number, number>({ maxSize: 1, semaphore, run: () => Promise.reject(new Error('no')) });
  const other = createBatcher<number, number>({ maxSize: 1, semaphore, run: async (items) => items });
  const failed = failing.add(1);
  const [outcome, answer] = await Promise.allSettled([failed, other.add(2)]);
  expect(outcome).toMatchObject({ reason: new Error('no') });
  expect(answer).toEqual({ status: 'fulfilled', value: 2 });
});

test('limits work in total and counts it by key; failed work frees its permit', async () => {
  const semaphore = createSemaphore(3);
  const { promise, resolve } = Promise.withResolvers<void>();
  const first = semaphore.run(() => promise, ['a']);
  expect(semaphore.crowdedKeys(2)).toEqual([]);
  const second = semaphore.run(() => promise, ['a', 'c']);
  expect([semaphore.free(), semaphore.crowdedKeys(2), semaphore.crowdedKeys(1)]).toEqual([1, ['a'], ['a', 'c']]);
  const failing = semaphore.run(() => Promise.reject(new Error('no')), ['b']);
  expect(semaphore.free()).toBe(0);
  const waiting = semaphore.run(async () => 'waited');
  await expect(failing).rejects.toThrow('no');
  expect(await waiting).toBe('waited');
  resolve();
  await semaphore.idle();
  await Promise.all([first, second]);
  expect([semaphore.free(), semaphore.crowdedKeys(1)]).toEqual([3, []]);
});
