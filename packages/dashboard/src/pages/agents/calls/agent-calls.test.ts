import { expect, it } from 'vitest';
import { callerText, callQuery } from './agent-calls.ts';

const NOW = Date.parse('2026-11-22T10:00:30.500Z');

it.each([
  [{}, {}],
  [{ status: 'failed' }, { status: 'failed' }],
  [{ status: 'nonsense', error: '<b>', since: '3y' }, {}],
  [{ status: 'completed', error: 'agent_error' }, { error: 'agent_error' }],
  [
    { since: '1h', cursor: 'abc' },
    { from: '2026-11-22T09:00:00.000Z', cursor: 'abc' },
  ],
])('the filters %j of the log ask for %j', (search, query) => {
  expect(callQuery(search, NOW)).toEqual(query);
});

it('a caller is named by its kind, the owner as itself, and an older call as not recorded', () => {
  expect(callerText({ caller: 'wallet', isOwn: false })).toBe('Wallet without a key');
  expect(callerText({ caller: 'account', isOwn: true })).toBe('You');
  expect(callerText({ caller: null, isOwn: false })).toBe('Not recorded');
});
