import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSecrets } from '../../lib/secrets.ts';
import { makeSearchCursor, readSearchCursor } from './search-agents.ts';

const ctx = { secrets: createSecrets('a secret of at least 32 characters') };
const other = { secrets: createSecrets('b secret of at least 32 characters') };

test('a cursor gives back its place for its question, and for that only', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.array(fc.string({ unit: 'binary' })), (question, else_, keys) => {
      fc.pre(question !== else_);
      const cursor = makeSearchCursor(ctx, question, { keys, id: 'agt_1' });
      expect(readSearchCursor(ctx, question, cursor)).toEqual({ keys, id: 'agt_1' });
      expect(() => readSearchCursor(ctx, else_, cursor)).toThrow('is not one');
      expect(() => readSearchCursor(other, question, cursor)).toThrow('is not one');
      expect(() => readSearchCursor(ctx, question, `${cursor.slice(0, -1)}!`)).toThrow('is not one');
    }),
  );
});

test('the longest place fits the limit of the wire', () => {
  const keys = ['𝔘'.repeat(60).toLowerCase(), '9999999999999999', '2026-11-21 10:00:00.123456+00', '1000', '2'];
  expect(
    makeSearchCursor(ctx, 'q', { keys: ['翻'.repeat(120), ...keys], id: `agt_${'z'.repeat(26)}` }).length,
  ).toBeLessThan(1000);
});
