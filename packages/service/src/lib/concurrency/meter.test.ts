import { expect, it } from 'vitest';
import { createMeter } from './meter.ts';

it('refills evenly up to the burst, and pays back an overdraft first, which is bounded', () => {
  const meter = createMeter({ perS: 1000, burst: 7500, maxOverdraft: 60_000 });
  meter.use('a', 7499, 0);
  expect(meter.waitMs('a', 1, 0)).toBe(0);
  meter.use('a', 3001, 0);
  expect(meter.waitMs('a', 1, 0)).toBe(3001);
  expect(meter.waitMs('a', 1, 3000)).toBe(1);
  expect(meter.waitMs('a', 1, 3001)).toBe(0);
  expect(meter.waitMs('b', 7500, 0)).toBe(0);
  meter.use('a', 7499, 3_600_000);
  expect(meter.waitMs('a', 1, 3_600_000)).toBe(0);
  meter.use('a', 1_000_000, 3_600_000);
  expect(meter.waitMs('a', 1, 3_600_000)).toBe(60_001);
});
