import { expect, it } from 'vitest';
import { createReadiness } from './documents.ts';

it('a hanging check times out, and no other starts beside it', async () => {
  const failures: unknown[] = [];
  const hanging: PromiseWithResolvers<void>[] = [];
  const check = () => {
    const one = Promise.withResolvers<void>();
    hanging.push(one);
    return one.promise;
  };
  const isReady = createReadiness(check, { timeoutMs: 20, onFailure: (error) => failures.push(error) });
  expect(await Promise.all([isReady(), isReady(), isReady()])).toEqual([false, false, false]);
  expect(await isReady()).toBe(false);
  expect([hanging.length, failures.length]).toEqual([1, 1]);
  hanging[0]?.resolve();
  const ask = () => {
    const asked = isReady();
    hanging[1]?.resolve();
    return asked;
  };
  await expect.poll(ask).toBe(true);
  expect(hanging).toHaveLength(2);
});

it('a check that fails says so, and is made anew after a second', async () => {
  let isDown = true;
  let checks = 0;
  const check = () => {
    checks += 1;
    return isDown ? Promise.reject(new Error('down')) : Promise.resolve();
  };
  const isReady = createReadiness(check, { onFailure: () => undefined });
  expect(await isReady()).toBe(false);
  isDown = false;
  expect([await isReady(), checks]).toEqual([false, 1]);
  await expect.poll(isReady).toBe(true);
  expect(checks).toBe(2);
});
