import { describe, expect, it } from 'vitest';
import { ANSWERS_UNTIL_UP, MISSES_UNTIL_DOWN, nextProbe, nextVerification } from './check-agents.ts';

const now = new Date('2026-11-21T10:00:00.000Z');
const pauseMs = (next: Date | null) => (next === null ? null : next.getTime() - now.getTime());

it('a proof is tried again after 1, 5 and 30 minutes, 2 and 12 hours, and then no more', () => {
  const minutes = [1, 2, 3, 4, 5, 6, 7].map((triesDone) => {
    const ms = pauseMs(nextVerification(triesDone, now));
    return ms === null ? null : ms / 60_000;
  });
  expect(minutes).toEqual([1, 5, 30, 120, 720, null, null]);
});

describe('a probe', () => {
  it.each([
    [false, 48_000, 60_000, 72_000],
    [true, 4_000, 5_000, 6_000],
  ])(
    'comes after a minute, or soon while it is deciding (%s), with a fifth of jitter either way',
    (isDeciding, least, middle, most) => {
      expect(pauseMs(nextProbe(isDeciding, 0, now))).toBe(least);
      expect(pauseMs(nextProbe(isDeciding, 0.5, now))).toBe(middle);
      expect(pauseMs(nextProbe(isDeciding, 1 - Number.EPSILON, now))).toBe(most);
    },
  );

  it('takes three misses and two answers to decide', () =>
    expect([MISSES_UNTIL_DOWN, ANSWERS_UNTIL_UP]).toEqual([3, 2]));
});
