import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readStatementCursor, statementCursor } from './read-statement.ts';

const date = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
const entryDate = fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true });
const order = fc.constantFrom('asc', 'desc');
const number = fc.bigInt({ min: 0n, max: 10n ** 18n - 1n });

it('a cursor leads back to its place', () => {
  fc.assert(
    fc.property(
      order,
      fc.option(date),
      fc.option(date),
      entryDate,
      number,
      number,
      (way, from, to, at, sequence, balanceMicro) => {
        const place = { order: way, from, to, after: { at, sequence }, closing: { sequence, balanceMicro } };
        expect(readStatementCursor(statementCursor(place))).toEqual(place);
      },
    ),
  );
});

it('a text that is no cursor is refused', () => {
  const encoded = [
    '',
    '1.2.3',
    'back.1.2.3',
    'forth...1.1.1.1',
    '..1.2..',
    '1.2.3.4.5.6.7',
    '--1..1.1.1.1',
    '-..1.1.1.1',
    '..1.1e9.1.1',
    `..1.${'9'.repeat(19)}.1.1`,
  ].map((text) => Buffer.from(text).toString('base64url'));
  for (const cursor of [...encoded, 'x', '%%%', '..1.1.1.1'])
    expect(() => readStatementCursor(cursor)).toThrow('not a cursor of this node');
});
