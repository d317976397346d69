import { expect, it } from 'vitest';
import { groupFailures } from './group-failures.ts';

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
