import fc from 'fast-check';
import { expect, it } from 'vitest';
import { RangeSets } from './range-sets.ts';
import { ordinalsOf } from './sets.ts';
import { SortedList } from './sorted-list.ts';

const WORDS = 40;
const value = fc.integer({ min: 0, max: 200 });
const steps = fc.array(
  fc.oneof(
    fc.record({ limit: value }),
    fc.record({ ordinal: fc.nat(WORDS * 32 - 1), becomes: fc.option(value, { freq: 4 }) }),
  ),
  { maxLength: 300, size: 'max' },
);

it('knows who is within any limit, whatever was asked and has changed before', () => {
  fc.assert(
    fc.property(fc.array(value, { minLength: 600, maxLength: 1200, size: 'max' }), steps, (first, changes) => {
      const values = new Map(first.entries());
      const of = (ordinal: number) => values.get(ordinal) as number;
      const list = new SortedList((a, b) => of(a) - of(b) || a - b);
      list.fill(Int32Array.from([...values.keys()].sort((a, b) => of(a) - of(b) || a - b)));
      const sets = new RangeSets(list, of);
      for (const change of changes) {
        if ('limit' in change) {
          const within = [...values].filter(([, each]) => each <= change.limit).map(([ordinal]) => ordinal);
          const found = sets.upTo(change.limit, WORDS);
          expect(found.size).toBe(within.length);
          expect([...ordinalsOf(found)]).toEqual(within.sort((a, b) => a - b));
        } else {
          const { ordinal, becomes } = change;
          if (values.has(ordinal)) {
            list.delete(ordinal);
            sets.delete(ordinal);
          }
          values.delete(ordinal);
          if (becomes === null) continue;
          values.set(ordinal, becomes);
          list.add(ordinal);
          sets.add(ordinal);
        }
      }
    }),
    { numRuns: 40 },
  );
});
