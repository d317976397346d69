import type { RequestStatus } from '@agent-network/contracts/invocations/invocations';
import { describe, expect, it } from 'vitest';
import { costOf, hasEnded, type InvocationEvent, invocationTransitions, statesThatTake } from './invocation.ts';

const statuses = Object.keys(invocationTransitions) as RequestStatus[];

describe('the life of an invocation', () => {
  it.each<[InvocationEvent, RequestStatus[]]>([
    ['begin', ['pending']],
    ['complete', ['processing']],
    ['fail', ['pending', 'processing']],
    ['cancel', ['pending', 'processing']],
  ])('%s has an effect in %j only', (event, states) => expect(statesThatTake(event)).toEqual(states));

  it.each<[RequestStatus, InvocationEvent, RequestStatus]>([
    ['pending', 'begin', 'processing'],
    ['pending', 'fail', 'failed'],
    ['pending', 'cancel', 'cancelled'],
    ['processing', 'complete', 'completed'],
    ['processing', 'fail', 'failed'],
    ['processing', 'cancel', 'cancelled'],
  ])('%s and %s: %s', (status, event, next) => expect(invocationTransitions[status][event]).toBe(next));

  it('what has ended stays ended, whatever happens', () => {
    for (const status of statuses.filter(hasEnded))
      expect(new Set(Object.values(invocationTransitions[status]))).toEqual(new Set(['ignored']));
    expect(statuses.filter(hasEnded)).toEqual(['completed', 'failed', 'cancelled']);
  });

  it('cannot complete before it has begun', () => expect(invocationTransitions.pending.complete).toBe('illegal'));
});

describe('the cost', () => {
  const done = (claimedMicro: bigint | null) => costOf({ kind: 'completed', result: null, claimedMicro }, 50_000n);

  it('of work done is the price, or less when the agent says so, never more', () => {
    expect([null, 50_000n, 49_999n, 0n, 50_001n, 10n ** 18n].map(done)).toEqual([
      50_000n,
      50_000n,
      49_999n,
      0n,
      50_000n,
      50_000n,
    ]);
  });

  it('of a failure is nothing', () =>
    expect(costOf({ kind: 'failed', reason: 'agent_error', message: '' }, 50_000n)).toBe(0n));
});
