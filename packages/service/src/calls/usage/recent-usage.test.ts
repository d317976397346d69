import type { CallUsage } from '@agent-network/contracts/invocations/usage';
import { expect, it } from 'vitest';
import { compareUsage, medianMicro, medianUnits } from './recent-usage.ts';

/** A call of 1,000 bytes and a second. */
const call = (quantity: string, unit = 'output_token', durationMs = 1000): CallUsage => ({
  units: [{ unit, quantity }],
  durationMs,
  measured: { inputBytes: 600, resultBytes: 400 },
  source: 'agent',
});
const usual = Array.from({ length: 10 }, (_, at) => call(String(100 + at)));

it.each<[string, CallUsage, CallUsage[], number, boolean]>([
  ['as always', call('104'), usual, 1, false],
  ['four times the median', call('416'), usual, 4, false],
  ['more than four times', call('421'), usual, 4.05, true],
  ['far from a median of few calls', call('1000'), usual.slice(0, 9), 9.62, false],
  [
    'a call of ten times the bytes',
    { ...call('1040'), measured: { inputBytes: 6000, resultBytes: 4000 } },
    usual,
    1,
    false,
  ],
  [
    'seconds, by the time that the node measured',
    call('8', 'second', 1000),
    Array(10).fill(call('1', 'second', 1000)),
    8,
    true,
  ],
  [
    'seconds of a call that took so long',
    call('8', 'second', 8000),
    Array(10).fill(call('1', 'second', 1000)),
    1,
    false,
  ],
])('%s', (_what, claim, recent, times, isFar) =>
  expect(compareUsage(claim, recent)).toEqual({
    calls: recent.length,
    units: [{ unit: claim.units[0]?.unit, times, isFar }],
  }),
);

it('a unit that no earlier call has, or of nothing, is compared with nothing', () => {
  expect(compareUsage(call('5', 'page'), usual).units).toEqual([]);
  expect(compareUsage(call('5'), Array(10).fill(call('0'))).units).toEqual([]);
});

it('medians are quantities and costs that there were', () => {
  expect(medianUnits([call('5'), call('1.5'), call('100'), call('7', 'page')])).toEqual([
    { unit: 'output_token', quantity: '5' },
    { unit: 'page', quantity: '7' },
  ]);
  expect([medianMicro([]), medianMicro([3n]), medianMicro([9n, 1n]), medianMicro([9n, 1n, 5n])]).toEqual([
    null,
    3n,
    1n,
    5n,
  ]);
});
