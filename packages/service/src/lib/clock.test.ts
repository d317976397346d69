import { expect, test } from 'vitest';
import { fixedClock, systemClock } from './clock.ts';

test('a fixed clock stands still until it is moved', () => {
  const clock = fixedClock('2026-01-01T00:00:00Z');
  expect(clock.now().toISOString()).toBe('2026-01-01T00:00:00.000Z');
  clock.advance(90_000);
  expect(clock.now().toISOString()).toBe('2026-01-01T00:01:30.000Z');
  clock.set(0);
  expect(clock.now().getTime()).toBe(0);
});

test('changing a returned date does not move the clock', () => {
  const clock = fixedClock(1_000);
  clock.now().setTime(5);
  expect(clock.now().getTime()).toBe(1_000);
});

test('an invalid date is refused', () => {
  expect(() => fixedClock('yesterday')).toThrow(RangeError);
});

test('the system clock reads the real time', () => {
  const before = Date.now();
  const now = systemClock.now().getTime();
  expect(now).toBeGreaterThanOrEqual(before);
  expect(now).toBeLessThanOrEqual(Date.now());
});
