import { expect, it } from 'vitest';
import { readProgressData, shownProgress } from './progress.ts';

it.each([
  [
    { fraction: 0.4, message: 'half' },
    { fraction: 0.4, message: 'half' },
  ],
  [
    { fraction: 7, percent: 10 },
    { fraction: 1, percent: 10 },
  ],
  [{ fraction: -1 }, { fraction: 0 }],
  [{ fraction: 'half', message: 'a\u001b[31m\u202eb' }, { message: 'a [31m b' }],
  [{ fraction: Number.NaN, message: 'x'.repeat(3000) }, { message: 'x'.repeat(2000) }],
  [{ chunk: 'old' }, { chunk: 'old' }],
])('progress %j is stored as %j', (given, stored) => expect(readProgressData(given)).toEqual(stored));

const at = '2026-11-30T10:00:00+00:00';
it.each([
  [
    { fraction: 0.4, message: 'half', other: 1 },
    { fraction: 0.4, message: 'half', at: '2026-11-30T10:00:00.000Z' },
  ],
  [{ percent: 10 }, null],
  ['text', null],
  [{ message: 1 }, null],
])('progress %j is shown as %j', (data, shown) => expect(shownProgress({ data, at })).toEqual(shown));
