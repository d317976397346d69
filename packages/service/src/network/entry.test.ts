import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isTold, nextLook, nextTry, type Reason, stateAfter } from './entry.ts';
import { addressOf, claimOf } from './entry-address.ts';

const now = new Date('2026-01-01T00:00:00Z');
const id = `agt_${'0'.repeat(26)}`;

describe('the address of an entry', () => {
  it.each([
    ['https://a.example/.well-known/agent-network.json', 'node', 'https://a.example', null],
    ['http://127.0.0.1:4020/x/.well-known/agent-network.json', 'node', 'http://127.0.0.1:4020/x', null],
    [`https://a.example/agents/${id}/registration.json`, 'agent', 'https://a.example', id],
  ] as const)('%s is that of a %s', (uri, kind, baseUrl, agentId) => {
    expect(claimOf(uri)).toEqual({ kind, baseUrl, agentId });
    expect(addressOf({ baseUrl, agentId })).toBe(uri);
  });

  it.each([
    '',
    'ipfs://x/.well-known/agent-network.json',
    'https://A.example/.well-known/agent-network.json',
    'https://a.example:443/.well-known/agent-network.json',
    'https://a.example/x/../.well-known/agent-network.json',
    'https://u:p@a.example/.well-known/agent-network.json',
    'https://a.example/.well-known/agent-network.json?x',
    'https://a.example/.well-known/agent-network.json#x',
    'https://a.example/agents/agt_1/registration.json',
    `https://a.example/agents/${id}/registration.json/`,
    `https://${'a'.repeat(1100)}.example/.well-known/agent-network.json`,
  ])('%s is none of ours', (uri) => expect(claimOf(uri)).toBeNull());
});

describe('an entry that is not good', () => {
  it('is asked about less and less often, and in the end no more', () => {
    const pauses = Array.from({ length: 60 }, (_, tries) => nextTry('unreachable', tries + 1, 0, now));
    const ms = pauses.map((at) => (at ? at.getTime() - now.getTime() : Number.POSITIVE_INFINITY));
    expect(ms).toEqual(ms.toSorted((a, b) => a - b));
    expect(ms.slice(0, 4)).toEqual([700, 700, 700, 700]);
    expect(ms.at(-1)).toBe(Number.POSITIVE_INFINITY);
  });

  it('stays listed while it is only unreadable, with time to fix it', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1000 }), (tries) => {
        expect(stateAfter({ state: 'listed' }, 'unreachable', tries)).toBe('listed');
        expect(stateAfter({ state: 'listed' }, 'not_there', tries)).toBe(tries < 4 ? 'listed' : 'ignored');
        expect(stateAfter({ state: 'listed' }, 'refused', tries)).toBe('ignored');
        expect(stateAfter({ state: 'new' }, 'unreachable', tries)).toBe('ignored');
      }),
    );
  });

  it('is reported at once, unless it may be temporary', () => {
    const early: Reason[] = ['no_token', 'unknown_node'];
    for (const reason of early) expect([isTold(reason, 1), isTold(reason, 4)]).toEqual([false, true]);
    expect(isTold('other_token', 1)).toBe(true);
  });
});

it('the file of a listed entry is read again, not at the same time as others', () => {
  expect(nextLook('node', 0, now).getTime()).toBeLessThan(nextLook('node', 0.9, now).getTime());
  expect(nextLook('node', 0.9, now).getTime()).toBeLessThan(nextLook('agent', 0, now).getTime());
});
