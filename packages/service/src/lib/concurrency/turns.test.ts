import { expect, test } from 'vitest';
import { createBatcher } from './batcher.ts';
import { createTurns } from './turns.ts';

test('batchers that take turns never run at the same time, and each comes to its turn with all that gathered', async () => {
  const turns = createTurns();
  const log: string[] = [];
  let runningCount = 0;
  const make = (name: string) =>
    createBatcher<number, number>({
      maxSize: 100,
      turns,
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

test('a batch that fails passes the turn on', async () => {
  const turns = createTurns();
  const failing = createBatcher<number, number>({ maxSize: 1, turns, run: () => Promise.reject(new Error('no')) });
  const other = createBatcher<number, number>({ maxSize: 1, turns, run: async (items) => items });
  const failed = failing.add(1);
  const [outcome, answer] = await Promise.allSettled([failed, other.add(2)]);
  expect(outcome).toMatchObject({ reason: new Error('no') });
  expect(answer).toEqual({ status: 'fulfilled', value: 2 });
});
