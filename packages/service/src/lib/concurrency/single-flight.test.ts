import { expect, it } from 'vitest';
import { cachedFlight, singleFlight } from './single-flight.ts';

it('calls of one key share a run while it lasts, also one that fails; other keys have their own', async () => {
  const gate = Promise.withResolvers<void>();
  const runs: string[] = [];
  const read = singleFlight(
    async (key: string) => {
      runs.push(key);
      await gate.promise;
      if (key === 'bad') throw new Error('no');
      return key;
    },
    (key) => key,
  );
  const both = [read('a'), read('a'), read('b')];
  const failing = Promise.allSettled([read('bad'), read('bad')]);
  expect(runs).toEqual(['a', 'b', 'bad']);
  gate.resolve();
  expect(await Promise.all(both)).toEqual(['a', 'a', 'b']);
  expect((await failing).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await read('a');
  expect(runs).toEqual(['a', 'b', 'bad', 'a']);
});

it('a cached result is given until its age, counted from the start of its run; a failure is not kept', async () => {
  let nowMs = 0;
  let runs = 0;
  const read = cachedFlight(
    100,
    async () => {
      runs += 1;
      if (runs === 1) throw new Error('no');
      nowMs += 50;
      return runs;
    },
    () => nowMs,
  );
  await expect(read()).rejects.toThrow('no');
  expect(await Promise.all([read(), read()])).toEqual([2, 2]);
  nowMs = 99;
  expect(await read()).toBe(2);
  nowMs = 100;
  expect(await read()).toBe(3);
});
