import fc from 'fast-check';
import type { Search } from './naive-search.ts';

export const capabilities = ['text', 'images', 'audio', 'video', 'gpt-4', 'rare'];
export const words = ['Alpha', 'beta', 'Gamma', 'delta', 'übersetzer', 'translate', 'translator', '翻訳'];
export const prices = ['0', '0.05', '0.050001', '1', '12.5'];
export const sortFields = [
  'reputation',
  'rates.perRequest',
  'rates.perHour',
  'responseTime',
  'name',
  'createdAt',
  'relevance',
] as const;

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
const someCapabilities = fc.subarray([...capabilities, 'nobody'], { minLength: 1, maxLength: 3 });

/** Searches of every shape, over what agents of `capabilities`, `words` and `prices` have. */
export const searches: fc.Arbitrary<Search> = fc.record({
  query: fc
    .record({
      capabilities: maybe(fc.record({ any: maybe(someCapabilities), all: maybe(someCapabilities) })),
      text: maybe(
        fc.constantFrom(
          'beta',
          'TRANSLATE',
          'trans',
          'alpha delta',
          'gamma üb',
          'be',
          '翻訳',
          'nothing',
          '?!',
          'audio',
          'alpha video rare',
        ),
      ),
      rates: maybe(
        fc.record({
          perRequest: maybe(fc.record({ max: fc.constantFrom(...prices) })),
          perHour: maybe(fc.record({ max: fc.constantFrom(...prices) })),
        }),
      ),
      reputation: maybe(fc.record({ min: fc.constantFrom(0, 100, 250.5, 500, 1000) })),
      verified: maybe(fc.boolean()),
      online: maybe(fc.boolean()),
    })
    .map((query) => JSON.parse(JSON.stringify(query))),
  sort: fc.uniqueArray(
    fc.record({ field: fc.constantFrom(...sortFields), order: fc.constantFrom('asc' as const, 'desc' as const) }),
    {
      selector: ({ field }) => field,
      maxLength: 3,
    },
  ),
  limit: fc.constantFrom(1, 2, 7, 20, 100),
});
