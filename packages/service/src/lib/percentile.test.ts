import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergeHistograms, middleMs, percentileMs } from './percentile.ts';

/** As `duration_bin` of the database has it. */
const binOf = (ms: number) => Math.min(250, Math.max(0, Math.floor(8 * Math.log2(Math.max(ms, 1)))));
const histogramOf = (all: readonly number[]) => mergeHistograms(all.map((ms) => new Map([[binOf(ms), 1]])));

describe('percentileMs', () => {
  it('is within 4.5 % of the exact nearest rank, whatever the values', () =>
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 10, max: 86_400_000, noNaN: true }), { minLength: 1, maxLength: 200 }),
        fc.constantFrom(0.5, 0.95),
        (values, share) => {
          const exact = [...values].sort((a, b) => a - b)[Math.ceil(values.length * share) - 1] as number;
          const found = percentileMs(histogramOf(values), share) as number;
          expect(Math.abs(found - exact) / exact).toBeLessThanOrEqual(0.05);
        },
      ),
    ));

  it('is null of nothing, and leaves out what was not measured', () => {
    expect(percentileMs(new Map(), 0.5)).toBeNull();
    expect(percentileMs(new Map([[-1, 7]]), 0.5)).toBeNull();
    expect(
      percentileMs(
        new Map([
          [-1, 7],
          [40, 1],
        ]),
        0.5,
      ),
    ).toBe(Math.round(middleMs(40) * 10) / 10);
  });
});
