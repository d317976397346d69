import { describe, expect, it } from 'vitest';
import { parseRetryAfterS, retryDelayMs } from './retry-schedule.ts';

describe('the pause before a repeat', () => {
  it('grows with each attempt up to 5 s and is spread over the whole range', () => {
    expect([0, 1, 2, 3, 10].map((attempt) => retryDelayMs(attempt, undefined, () => 1))).toEqual([
      200, 400, 800, 1600, 5000,
    ]);
    expect(retryDelayMs(3, undefined, () => 0)).toBe(0);
  });

  it('is never shorter than the node asked for', () => expect(retryDelayMs(0, 2, () => 0)).toBe(2_000));

  it('is refused when the node asks for more than half a minute', () => {
    expect(retryDelayMs(0, 31, () => 0)).toBeNull();
  });

  it.each([
    ['7', 7],
    ['Sat, 21 Nov 2026 10:00:05 GMT', 5],
    ['Sat, 21 Nov 2026 09:00:00 GMT', 0],
    ['soon', undefined],
    [null, undefined],
  ])('reads Retry-After %j as %j seconds', (header, seconds) => {
    expect(parseRetryAfterS(header, new Date('2026-11-21T10:00:00Z'))).toBe(seconds);
  });
});
