import { expect, it } from 'vitest';
import { createLineSpeeds } from './run-queued.ts';

/** A line seen every 100 ms for so long: its first request is `firstMs(now)` old. */
function seen(untilMs: number, firstMs: (nowMs: number) => number): number {
  const speeds = createLineSpeeds();
  let expectedMs = 0;
  for (let nowMs = 0; nowMs <= untilMs; nowMs += 100) expectedMs = speeds.expectedMs('a', firstMs(nowMs), nowMs);
  return expectedMs;
}

it.each([
  ['that was never seen', 0, () => -700, 700],
  ['that is served as fast as it is joined', 3000, (now: number) => now - 400, 400],
  ['that is joined twice as fast as it is served', 3000, (now: number) => now / 2, 3000],
  ['that is joined four times as fast as it is served', 2000, (now: number) => now / 4, 6000],
  ['that catches up: no less than the first one waits', 3000, (now: number) => now * 1.5 - 2000, 500],
  ['whose first one has not changed', 3000, () => 0, 3000],
])('a newcomer to a line %s', (_, untilMs, firstMs, expectedMs) =>
  expect(seen(untilMs, firstMs)).toBeCloseTo(expectedMs, 5),
);

it('the speed of a line a minute ago does not count', () => {
  const speeds = createLineSpeeds();
  for (const nowMs of [0, 500, 1000]) speeds.expectedMs('a', nowMs / 10, nowMs);
  expect(speeds.expectedMs('a', 89_000, 90_000)).toBeCloseTo(1000, -2);
});

it('lines are judged apart', () => {
  const speeds = createLineSpeeds();
  speeds.expectedMs('a', 0, 0);
  speeds.expectedMs('a', 500, 1000);
  expect([speeds.expectedMs('a', 500, 1000), speeds.expectedMs('b', 500, 1000)]).toEqual([1000, 500]);
});
