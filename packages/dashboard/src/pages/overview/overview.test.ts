import { expect, it } from 'vitest';
import { groupFailures, spansToday } from './overview.ts';

const failure = (requestId: string, agentId: string, message = 'timed out') =>
  ({
    requestId,
    agentId,
    agentName: agentId,
    code: 'agent_error',
    message,
    at: `2026-01-01T00:00:0${requestId}Z`,
  }) as const;

it('shows the same failure of the same agent once, as the latest, with its count', () => {
  const groups = groupFailures([failure('5', 'a'), failure('4', 'b'), failure('3', 'a'), failure('2', 'a', 'other')]);
  expect(groups.map(({ requestId, count }) => [requestId, count])).toEqual([
    ['5', 2],
    ['4', 1],
    ['2', 1],
  ]);
});

const bucket = (calls: number, earned = '0.00') => ({
  ...{ from: '2026-01-01T00:00:00Z', calls, failed: 0, spent: '0.00', earned },
  ...{ p50Ms: null, p95Ms: null },
});

it.each([
  ['only today', 7, [bucket(0), bucket(3)], true],
  ['only earnings of today', 30, [bucket(0), bucket(0, '0.10')], true],
  ['another day too', 7, [bucket(1), bucket(3)], false],
  ['another day only', 7, [bucket(1), bucket(0)], false],
  ['nothing', 7, [bucket(0), bucket(0)], false],
  ['hours already', 1, [bucket(0), bucket(3)], false],
])('shows hours where it all happened today: %s', (_name, days, buckets, expected) =>
  expect(spansToday({ days, buckets })).toBe(expected),
);
