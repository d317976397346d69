import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { createListingIndex } from './create-listing-index.ts';

const everyone = { wanted: { any: [], all: [], texts: [] }, words: null, beside: [] };
const filter = { isOnline: [true, false], isVerified: [true, false], limits: [] };
const facts = {
  description: '',
  tags: [],
  exampleQuestions: [],
  home: null,
  isOnline: true,
  isVerified: true,
  reputation: 0,
};
const amounts = { perRequestMicro: 0n, perHourMicro: 0n, responseMs: null, createdAt: new Date(0) };

function facetsOf(capabilities: readonly (readonly string[])[]) {
  const index = createListingIndex(7);
  for (const [nth, own] of capabilities.entries())
    index.put({ ...facts, ...amounts, id: `agt_${nth}`, name: 'A', capabilities: own, item: Buffer.from('x') });
  return index.facets({ ...everyone, filter }).capabilities;
}

it('of thousands of capabilities, those that most agents have are counted, in whatever order they came', () => {
  const names = Array.from({ length: 2000 }, (_, nth) => `c${String(nth).padStart(4, '0')}`);
  const agents = fc.shuffledSubarray(names, { minLength: 1000 });
  fc.assert(
    fc.property(fc.array(agents, { minLength: 1, maxLength: 3 }), (capabilities) => {
      const counts = new Map<string, number>();
      for (const each of capabilities.flat()) counts.set(each, (counts.get(each) ?? 0) + 1);
      const first = [...counts].sort(([a, ofA], [b, ofB]) => ofB - ofA || (a < b ? -1 : 1)).slice(0, 50);
      expect(facetsOf(capabilities)).toEqual(first.map(([value, count]) => ({ value, count })));
    }),
    { numRuns: 30 },
  );
});

it('the capabilities that only few have are not sorted', () => {
  const names = Array.from({ length: 20_000 }, (_, nth) => `c${String(nth).padStart(5, '0')}`);
  const sort = vi.spyOn(Array.prototype, 'sort');
  facetsOf([names]);
  const most = Math.max(...sort.mock.contexts.map((each) => (each as unknown[]).length));
  sort.mockRestore();
  expect(most).toBeLessThanOrEqual(600);
});
