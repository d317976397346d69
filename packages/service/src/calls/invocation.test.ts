import type { RequestStatus } from '@agent-network/contracts/invocations/invocations';
import { describe, expect, it } from 'vitest';
import type { SchemeId } from '../payments/ledger/scheme-id.ts';
import {
  costOf,
  hasEnded,
  type InvocationEvent,
  type InvocationState,
  invocationTransitions,
  stateOf,
  statusesThatTake,
} from './invocation.ts';

const statuses: readonly RequestStatus[] = ['pending', 'processing', 'completed', 'failed', 'cancelled'];

describe('the life of an invocation', () => {
  it.each<[InvocationEvent, RequestStatus[]]>([
    ['start', ['pending']],
    ['paid', ['pending']],
    ['complete', ['processing']],
    ['ask', ['processing']],
    ['answer', ['input_required']],
    ['fail', ['pending', 'processing', 'input_required']],
    ['cancel', ['pending', 'processing', 'input_required']],
  ])('%s has an effect in %j only', (event, expected) => expect(statusesThatTake(event)).toEqual(expected));

  it.each<[InvocationState, InvocationEvent, InvocationState | 'illegal']>([
    ['queued', 'start', 'processing'],
    ['queued', 'paid', 'illegal'],
    ['queued', 'fail', 'failed'],
    ['queued', 'cancel', 'cancelled'],
    ['awaitingPayment', 'paid', 'processing'],
    ['awaitingPayment', 'start', 'illegal'],
    ['awaitingPayment', 'fail', 'failed'],
    ['awaitingPayment', 'cancel', 'cancelled'],
    ['processing', 'ask', 'input_required'],
    ['input_required', 'answer', 'processing'],
    ['input_required', 'complete', 'illegal'],
    ['input_required', 'fail', 'failed'],
    ['input_required', 'cancel', 'cancelled'],
    ['processing', 'complete', 'completed'],
    ['processing', 'fail', 'failed'],
    ['processing', 'cancel', 'cancelled'],
  ])('%s and %s: %s', (state, event, next) => expect(invocationTransitions[state][event]).toBe(next));

  it.each<[RequestStatus, SchemeId | null, InvocationState]>([
    ['pending', 'exact', 'awaitingPayment'],
    ['pending', 'treasury', 'queued'],
    ['pending', null, 'queued'],
    ['processing', 'exact', 'processing'],
  ])('%s of a call paid by %s is %s', (status, scheme, state) => expect(stateOf({ status, scheme })).toBe(state));

  it('what has ended stays ended, whatever happens', () => {
    for (const status of statuses.filter(hasEnded))
      expect(new Set(Object.values(invocationTransitions[stateOf({ status, scheme: null })]))).toEqual(
        new Set(['ignored']),
      );
    expect(statuses.filter(hasEnded)).toEqual(['completed', 'failed', 'cancelled']);
  });

  it('cannot complete before it has begun', () => {
    for (const state of ['queued', 'awaitingPayment'] as const)
      expect(invocationTransitions[state].complete).toBe('illegal');
  });
});

describe('the cost', () => {
  const flat = { priceMicro: 50_000n, usageTerms: null };
  const done = (claimedMicro: bigint | null) => costOf({ kind: 'completed', result: null, claimedMicro }, flat);

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
    expect(costOf({ kind: 'failed', reason: 'agent_error', message: '' }, flat)).toBe(0n));
});
