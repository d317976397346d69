import { expect, test } from 'vitest';
import { AutoRequest } from './auto.ts';
import { InvocationRequest } from './invocations.ts';

const task = 'count the words';

test('one amount written in two ways is one spending cap', () => {
  const caps = { maxCost: '0.1', max_cost: '0.10', max_spend: '0.100000' };
  expect(InvocationRequest.parse({ task, ...caps }).maxCost).toBe('0.1');
  expect(AutoRequest.parse({ task, ...caps }).maxCost).toBe('0.1');
});

test('aliases of the spending cap with different amounts are refused', () => {
  const read = InvocationRequest.safeParse({ task, max_cost: '0.1', max_spend: '0.11' });
  expect(read.error?.issues).toMatchObject([{ path: ['maxCost'], message: expect.stringContaining('different') }]);
});

test('a malformed alias is refused as malformed', () => {
  const read = InvocationRequest.safeParse({ task, maxCost: '0.1', max_spend: 'ten' });
  expect(read.error?.issues.map(({ path }) => path)).toEqual([['max_spend']]);
});
