import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createBatcher } from './batcher.ts';

/** A run that records its batches and finishes each only when told to. */
function heldRun() {
  const batches: number[][] = [];
  const finishers: (() => void)[] = [];
  async function run(items: number[]) {
    batches.push(items);
    await new Promise<void>((resolve) => finishers.push(resolve));
    return items.map((item) => item * 10);
  }
  return { batches, run, finish: () => finishers.shift()?.() };
}

const immediate = () => new Promise<void>((resolve) => void setImmediate(resolve));
/** What is due now has started. */
const turn = async () => {
  await immediate();
  await immediate();
};

test('a lone item starts within this turn of the event loop', async () => {
  const held = heldRun();
  const batcher = createBatcher({ run: held.run, maxSize: 10 });
  const result = batcher.add(1);
  expect(held.batches).toEqual([]);
  await turn();
  expect(held.batches).toEqual([[1]]);
  held.finish();
  expect(await result).toBe(10);
});

test('items that arrive while a batch runs go together as the next one, up to the maximum', async () => {
  const held = heldRun();
  const batcher = createBatcher({ run: held.run, maxSize: 3 });
  const results = [batcher.add(1)];
  await turn();
  results.push(...[2, 3, 4, 5].map((item) => batcher.add(item)));
  await turn();
  expect(held.batches).toEqual([[1]]);
  held.finish();
  await results[0];
  await turn();
  expect(held.batches).toEqual([[1], [2, 3, 4]]);
  held.finish();
  await results[3];
  await turn();
  held.finish();
  expect(await Promise.all(results)).toEqual([10, 20, 30, 40, 50]);
  expect(held.batches).toEqual([[1], [2, 3, 4], [5]]);
});

test('as many batches as allowed run at once, and no more', async () => {
  const held = heldRun();
  const batcher = createBatcher({ run: held.run, maxSize: 1, maxConcurrent: 2 });
  const results = [1, 2, 3].map((item) => batcher.add(item));
  await turn();
  expect(held.batches).toEqual([[1], [2]]);
  held.finish();
  await results[0];
  await turn();
  expect(held.batches).toEqual([[1], [2], [3]]);
  held.finish();
  held.finish();
  await Promise.all(results);
});

test('a poisoned item fails alone, and everyone else gets their own result', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ value: fc.nat(), isPoison: fc.boolean(), pauses: fc.nat(3) }), { maxLength: 40 }),
      fc.integer({ min: 1, max: 7 }),
      fc.integer({ min: 1, max: 3 }),
      async (items, maxSize, maxConcurrent) => {
        const applied: unknown[] = [];
        const run = async (batch: typeof items) => {
          expect(batch.length).toBeLessThanOrEqual(maxSize);
          await Promise.resolve();
          const poison = batch.find((item) => item.isPoison);
          if (poison) throw new Error(`poison ${poison.value}`);
          applied.push(...batch);
          return batch.map((item) => item.value);
        };
        const batcher = createBatcher({ run, maxSize, maxConcurrent });
        const results: Promise<number>[] = [];
        for (const item of items) {
          const result = batcher.add(item);
          // Told of below: it may fail during the pauses.
          result.catch(() => undefined);
          results.push(result);
          for (let pause = 0; pause < item.pauses; pause++) await immediate();
        }
        const settled = await Promise.allSettled(results);
        for (const [index, item] of items.entries()) {
          const result = settled[index];
          if (item.isPoison) expect(result).toMatchObject({ reason: new Error(`poison ${item.value}`) });
          else expect(result).toEqual({ status: 'fulfilled', value: item.value });
        }
        expect(applied).toHaveLength(items.filter((item) => !item.isPoison).length);
        if (maxConcurrent === 1) expect(applied).toEqual(items.filter((item) => !item.isPoison));
      },
    ),
  );
});

test('items of one key are never in one batch, never run at the same time, and keep their order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(4), { maxLength: 40 }), fc.integer({ min: 1, max: 3 }), async (keys, lanes) => {
      const busy = new Set<number>();
      const done = new Map<number, number[]>();
      const run = async (batch: { key: number; order: number }[]) => {
        for (const { key } of batch) {
          expect(busy.has(key)).toBe(false);
          busy.add(key);
        }
        await turn();
        for (const { key, order } of batch) {
          busy.delete(key);
          done.set(key, [...(done.get(key) ?? []), order]);
        }
        return batch;
      };
      const batcher = createBatcher({ run, maxSize: 4, maxConcurrent: lanes, keyOf: ({ key }) => String(key) });
      await Promise.all(keys.map((key, order) => batcher.add({ key, order })));
      for (const orders of done.values()) expect(orders).toEqual([...orders].sort((a, b) => a - b));
      expect([...done.values()].flat()).toHaveLength(keys.length);
    }),
  );
});

test('a batch whose error must not be split is not run again', async () => {
  let runCount = 0;
  const run = async (): Promise<number[]> => {
    runCount++;
    throw new Error('commit unknown');
  };
  const batcher = createBatcher<number, number>({ run, maxSize: 9, canSplit: () => false });
  const settled = await Promise.allSettled([batcher.add(1), batcher.add(2)]);
  expect(settled.map((result) => result.status)).toEqual(['rejected', 'rejected']);
  expect(runCount).toBe(1);
});

test('a run that answers too few results fails its items and is not repeated', async () => {
  let runCount = 0;
  const run = async () => {
    runCount++;
    return [1];
  };
  const batcher = createBatcher<number, number>({ run, maxSize: 9 });
  const settled = await Promise.allSettled([batcher.add(1), batcher.add(2)]);
  expect(settled.map((result) => result.status)).toEqual(['rejected', 'rejected']);
  expect(runCount).toBe(1);
});

test('idle resolves only when nothing waits and nothing runs, also after a failure', async () => {
  const held = heldRun();
  const batcher = createBatcher({ run: held.run, maxSize: 1 });
  await batcher.idle();
  const results = [batcher.add(1), batcher.add(2)];
  let isIdle = false;
  const idle = batcher.idle().then(() => {
    isIdle = true;
  });
  await turn();
  held.finish();
  await results[0];
  await turn();
  expect(isIdle).toBe(false);
  held.finish();
  await idle;
  expect(await Promise.all(results)).toEqual([10, 20]);

  const failing = createBatcher<number, number>({ run: () => Promise.reject(new Error('no')), maxSize: 1 });
  const rejected = failing.add(1);
  await Promise.all([failing.idle(), expect(rejected).rejects.toThrow('no')]);
});

test('a batch holds as much as its items weigh, and one that weighs more goes alone', async () => {
  const weights = fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(weights, async (items) => {
      const batches: number[][] = [];
      const run = async (batch: number[]) => {
        batches.push(batch);
        return batch;
      };
      const batcher = createBatcher({ run, maxSize: 20, weightOf: (weight) => weight });
      await Promise.all(items.map((item) => batcher.add(item)));
      expect(batches.flat()).toEqual(items);
      const sums = batches.map((batch) => batch.reduce((sum, weight) => sum + weight, 0));
      for (const [index, sum] of sums.entries()) {
        if ((batches[index]?.length ?? 0) > 1) expect(sum).toBeLessThanOrEqual(20);
        const next = batches[index + 1]?.[0];
        if (next !== undefined) expect(sum + next).toBeGreaterThan(20);
      }
    }),
  );
});

test('items gather while one is under way, go when they are full, and go in time when they are not', async () => {
  const held = heldRun();
  const options = { run: held.run, maxSize: 3, maxConcurrent: 4, staggerMs: () => 10_000 };
  const batcher = createBatcher(options);
  const results = [batcher.add(1)];
  await turn();
  results.push(batcher.add(2), batcher.add(3));
  await turn();
  expect(held.batches).toEqual([[1]]);
  results.push(batcher.add(4));
  await turn();
  expect(held.batches).toEqual([[1], [2, 3, 4]]);
  results.push(batcher.add(5));
  await turn();
  expect(held.batches).toHaveLength(2);
  held.finish();
  held.finish();
  await Promise.all(results.slice(0, 4));
  await turn();
  held.finish();
  expect(await results[4]).toBe(50);

  const quick = heldRun();
  const soon = createBatcher({ ...options, run: quick.run, staggerMs: () => 5 });
  const both = [soon.add(1)];
  await turn();
  both.push(soon.add(2));
  while (quick.batches.length < 2) await new Promise((resolve) => setImmediate(resolve));
  quick.finish();
  quick.finish();
  expect(await Promise.all(both)).toEqual([10, 20]);
});
