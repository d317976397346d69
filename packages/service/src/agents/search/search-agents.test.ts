import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSecrets } from '../../lib/secrets.ts';
import { makeSearchCursor, readSearchCursor } from './search-agents.ts';

const ctx = { secrets: createSecrets('a secret of at least 32 characters') };
const other = { secrets: createSecrets('b secret of at least 32 characters') };

const times = fc.option(fc.double({ min: 1, max: 1e14, noNaN: true }));

test('a cursor gives back its place for its question, and for that only', () => {
  fc.assert(
    fc.property(
      fc.string(),
      fc.string(),
      fc.array(fc.string({ unit: 'binary' })),
      times,
      (question, else_, keys, asOfMs) => {
        const place = { keys, id: 'agt_1', asOfMs };
        fc.pre(question !== else_);
        const cursor = makeSearchCursor(ctx, question, place);
        expect(readSearchCursor(ctx, question, cursor)).toEqual(place);
        expect(() => readSearchCursor(ctx, else_, cursor)).toThrow('is not one');
        expect(() => readSearchCursor(other, question, cursor)).toThrow('is not one');
        expect(() => readSearchCursor(ctx, question, `${cursor.slice(0, -1)}!`)).toThrow('is not one');
      },
    ),
  );
});

test('the longest place fits the limit of the wire', () => {
  // One by meaning has no other keys than relevance and reputation.
  const asOfMs = null;
  const keys = ['𝔘'.repeat(60).toLowerCase(), '9999999999999999', '2026-11-21 10:00:00.123456+00', '1000', '2'];
  expect(
    makeSearchCursor(ctx, 'q', { keys: ['翻'.repeat(120), ...keys], id: `agt_${'z'.repeat(26)}`, asOfMs }).length,
  ).toBeLessThan(1000);
});
