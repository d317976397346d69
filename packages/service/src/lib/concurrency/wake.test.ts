import { expect, it } from 'vitest';
import { createWake } from './wake.ts';

it('a wake ends every wait of its moment, and none that comes later', async () => {
  const bell = createWake();
  const waits = [bell.wait(60_000), bell.wait(60_000)];
  bell.wake();
  await Promise.all(waits);
  let isOver = false;
  const later = bell.wait(20).then(() => {
    isOver = true;
  });
  await Promise.resolve();
  expect(isOver).toBe(false);
  await later;
});
