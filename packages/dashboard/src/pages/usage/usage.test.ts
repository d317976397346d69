import { expect, it } from 'vitest';
import { readPeriod, sumDays } from './usage.ts';

const day = { date: '2026-11-21', requests: 3, completed: 2, failed: 1, spent: '0.1', earned: '0.000001' };

it('adds days up to the last micro-USDC', () =>
  expect(sumDays([day, { ...day, spent: '0.2' }, { ...day, earned: '90071992547.409931' }])).toEqual({
    requests: 9,
    completed: 6,
    failed: 3,
    spent: '0.40',
    earned: '90071992547.409933',
  }));

it.each([
  ['7', '7'],
  ['90', '90'],
  [undefined, '30'],
  ['365', '30'],
])('the period of %j is %s days', (text, period) => expect(readPeriod(text)).toBe(period));
