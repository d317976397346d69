import { expect, it } from 'vitest';
import { utcPeriod } from './utc-period.ts';

const now = new Date('2026-03-01T02:30:00.000Z');

it('one day is hours, from midnight (UTC) up to the one that runs', () => {
  const { span, from, starts } = utcPeriod(1, now);
  expect([span, from.toISOString()]).toEqual(['hour', '2026-03-01T00:00:00.000Z']);
  expect(starts.map((each) => each.toISOString().slice(11, 16))).toEqual(['00:00', '01:00', '02:00']);
});

it('more are days, with today, over the ends of months', () => {
  const { span, starts } = utcPeriod(7, now);
  expect(span).toBe('day');
  expect(starts.map((each) => each.toISOString().slice(5, 10))).toEqual([
    '02-23',
    '02-24',
    '02-25',
    '02-26',
    '02-27',
    '02-28',
    '03-01',
  ]);
  expect(utcPeriod(30, now).starts).toHaveLength(30);
});
