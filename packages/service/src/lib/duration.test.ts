import fc from 'fast-check';
import { expect, it } from 'vitest';
import { durationText, formatDuration } from './duration.ts';

it.each([
  [0, '0s'],
  [12, '0.012s'],
  [1250, '1.25s'],
  [1000, '1s'],
  [0.4, '0s'],
  [0.5, '0.001s'],
  [86_400_000, '86400s'],
])('%s ms read %s', (ms, text) => expect(formatDuration(ms)).toBe(text));

it.each([
  [12.4, '12 ms'],
  [999.6, '1.00 s'],
  [1250, '1.25 s'],
  [12_340, '12.3 s'],
])('%s ms are shown to people as %s', (ms, text) => expect(durationText(ms)).toBe(text));

it('is always seconds with at most three decimals and never an exponent', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e15, noNaN: true }), (ms) => {
      expect(formatDuration(ms)).toMatch(/^\d+(\.\d{1,3})?s$/);
    }),
  );
});
