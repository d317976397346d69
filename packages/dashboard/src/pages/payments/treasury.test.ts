import { expect, it } from 'vitest';
import { statementPeriod } from './treasury.ts';

it.each([
  [{}, {}],
  [{ from: '2026-11-01' }, { from: '2026-11-01T00:00:00.000Z' }],
  [{ to: '2026-02-28' }, { to: '2026-03-01T00:00:00.000Z' }],
  [
    { from: '2026-11-21', to: '2026-11-21' },
    { from: '2026-11-21T00:00:00.000Z', to: '2026-11-22T00:00:00.000Z' },
  ],
  [{ from: 'yesterday', to: '2026-13-01' }, {}],
])('the days %j are the period %j', (days, period) => expect(statementPeriod(days)).toEqual(period));
