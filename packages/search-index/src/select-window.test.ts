import fc from 'fast-check';
import { expect, it } from 'vitest';
import { AgentOrder } from './agent-order.ts';
import { Columns } from './columns.ts';
import { noRelevance } from './relevance.ts';
import { selectWindow } from './select-window.ts';

const names = fc.array(fc.constantFrom('a', 'b', '𝔘', '\uffff', 'ab'), { maxLength: 6 }).map((parts) => parts.join(''));
const ids = fc.string({ unit: fc.constantFrom('0', 'a', 'b', 'Z', '~', '!'), maxLength: 3 }).map((end) => `agt_${end}`);
const agents = fc.uniqueArray(
  fc.record({
    id: ids,
    name: names,
    reputation: fc.integer({ min: 0, max: 3 }),
    responseMs: fc.constantFrom(0, 1, 1 / 0),
  }),
  { selector: ({ id }) => id, minLength: 1, maxLength: 150, size: 'max' },
);
const keys = fc.uniqueArray(
  fc.record({
    field: fc.constantFrom('name' as const, 'reputation' as const, 'responseTime' as const),
    order: fc.constantFrom('asc' as const, 'desc' as const),
  }),
  { selector: ({ field }) => field },
);

it('selects what sorting all and cutting out a part gives, however many values are equal', () => {
  fc.assert(
    fc.property(
      agents,
      keys,
      fc.nat(160),
      fc.nat(30),
      fc.constantFrom('asc' as const, 'desc' as const),
      (all, by, skip, count, byId) => {
        const columns = new Columns();
        for (const [ordinal, { id, name, reputation, responseMs }] of all.entries()) {
          columns.setId(ordinal, id);
          columns.set('name', ordinal, name);
          columns.set('reputation', ordinal, reputation);
          columns.set('responseTime', ordinal, responseMs);
        }
        const order = new AgentOrder(columns, { keys: by, byId }, noRelevance);
        const ordinals = Int32Array.from(all.keys());
        const sorted = ordinals.slice().sort((a, b) => order.compare(a, b, by));
        const window = selectWindow(ordinals, skip, count, order.ranking(by));
        expect([...window]).toEqual([...sorted.subarray(skip, skip + count)]);
      },
    ),
    { numRuns: 300 },
  );
});
