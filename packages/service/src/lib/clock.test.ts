import { expect, test } from 'vitest';
import { systemClock } from './clock.ts';

test('the system clock reads the real time', () => {
  const before = Date.now();
  const now = systemClock.now().getTime();
  expect(now).toBeGreaterThanOrEqual(before);
  expect(now).toBeLessThanOrEqual(Date.now());
});
