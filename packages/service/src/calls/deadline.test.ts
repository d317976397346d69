import { Timestamp } from '@agent-network/contracts/scalars';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { deadlineOf } from './deadline.ts';

const now = new Date('2026-11-21T10:00:00.000Z');

it('is ten minutes from now when nothing is wished for', () =>
  expect(deadlineOf(undefined, now)).toEqual(new Date('2026-11-21T10:10:00Z')));

it('is five minutes from now when the caller waits for the result', () =>
  expect(deadlineOf(undefined, now, { isAwaited: true })).toEqual(new Date('2026-11-21T10:05:00Z')));

it.each([
  ['2026-11-21T10:00:00.001Z', '2026-11-21T10:00:00.001Z'],
  ['2026-11-22T10:00:00Z', '2026-11-22T10:00:00.000Z'],
  ['2026-11-21T13:30:00+03:00', '2026-11-21T10:30:00.000Z'],
])('%s is %s', (wish, iso) => expect(deadlineOf(wish, now).toISOString()).toBe(iso));

it.each([
  '2026-11-21T10:00:00.000Z',
  '2026-11-21T09:59:59.999Z',
  '2026-11-22T10:00:00.001Z',
  '0001-01-01T00:00:00Z',
  '9999-12-31T23:59:59Z',
])('%s is refused', (wish) => expect(() => deadlineOf(wish, now)).toThrow(/deadline/));

it('whatever the wire takes as a timestamp is a date or is refused here: never one that is no date', () => {
  const digits = (length: number) => fc.stringMatching(new RegExp(`^\\d{${length}}$`));
  const text = fc
    .tuple(
      digits(4),
      digits(2),
      digits(2),
      digits(2),
      digits(2),
      fc.stringMatching(/^(:\d{2}(\.\d{1,9})?)?$/),
      fc.stringMatching(/^(Z|[+-]\d{2}:?\d{2})$/),
    )
    .map(([year, month, day, hour, minute, rest, zone]) => `${year}-${month}-${day}T${hour}:${minute}${rest}${zone}`);
  fc.assert(
    fc.property(
      fc.oneof(
        text,
        fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
      ),
      (wish) => {
        if (Timestamp.safeParse(wish).success) expect(Number.isNaN(new Date(wish).getTime())).toBe(false);
      },
    ),
    { numRuns: 5_000 },
  );
});
