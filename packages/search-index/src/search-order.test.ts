import { expect, test } from 'vitest';
import { bestReputationFirst, orderOf } from './search-order.ts';

test('without a wish the best reputation comes first, or the best match of a text', () => {
  expect(orderOf([], false)).toBe(bestReputationFirst);
  const bestMatch = { field: 'relevance', order: 'desc' };
  expect(orderOf([], true)).toEqual({ keys: [bestMatch, ...bestReputationFirst.keys], byId: 'asc' });
});

test('ids ascend in an order that begins with the best, and descend in its reverse', () => {
  expect(orderOf([{ field: 'rates.perRequest', order: 'asc' }], false).byId).toBe('asc');
  expect(orderOf([{ field: 'rates.perRequest', order: 'desc' }], false).byId).toBe('desc');
  expect(orderOf([{ field: 'reputation', order: 'asc' }], false).byId).toBe('desc');
});

test('relevance says nothing without a text', () => {
  const byName = { field: 'name', order: 'asc' } as const;
  const byRelevance = { field: 'relevance', order: 'desc' } as const;
  expect(orderOf([byRelevance, byName], false).keys).toEqual([byName]);
  expect(orderOf([byRelevance], false)).toBe(bestReputationFirst);
  expect(orderOf([byRelevance, byName], true).keys).toEqual([byRelevance, byName]);
});
