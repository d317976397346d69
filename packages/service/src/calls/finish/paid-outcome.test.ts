import type { FailureReason } from '@agent-network/contracts/invocations/invocations';
import { describe, expect, it } from 'vitest';
import type { Invocation } from '../invocation.ts';
import { paidOutcomeOf } from './end-invocations.ts';

/** A call for 0.05 USDC, paid by a treasury, that has ended. */
const call = {
  ...{ id: 'req_1', agentId: 'agt_1', accountId: 'acc_1', scheme: 'treasury', paymentHash: null },
  ...{ payerLedgerId: 'trs_1', priceMicro: 50_000n, costMicro: 0n, promisedMicro: null },
  ...{ createdAt: new Date(0), startedAt: new Date(0), deadline: new Date(60_000) },
} as Invocation;
const known = { askedAt: new Date(0), channelPayer: null };
const done = { kind: 'completed', result: null, claimedMicro: null } as const;
const failed = (reason: FailureReason) => ({ kind: 'failed', reason, message: '' }) as const;

describe('evidence about an agent', () => {
  it('of completed work is its cost; of a failure the price', () => {
    expect(paidOutcomeOf({ ...call, costMicro: 20_000n }, done, known)).toMatchObject({
      ...{ isGood: true, amountMicro: 20_000n },
    });
    expect(paidOutcomeOf(call, failed('agent_error'), known)).toMatchObject({ isGood: false, amountMicro: 50_000n });
  });

  it.each<[string, FailureReason, Partial<Invocation>, boolean]>([
    ['an error', 'agent_error', {}, true],
    ['a result that is not what it declares', 'result_invalid', {}, true],
    ['a deadline of at least 30 s', 'deadline_exceeded', { deadline: new Date(30_000) }, true],
    ['a shorter one', 'deadline_exceeded', { deadline: new Date(29_999) }, false],
    ['a payment that did not come in', 'payment_failed', {}, false],
    ['its removal', 'agent_removed', {}, false],
    ['input that does not fit', 'input_invalid', {}, false],
    ['an end that the restored database has lost', 'node_restored', {}, false],
    ['a task that was not clear to it', 'agent_needs_input', {}, false],
    ['the same, and it took a bill for it', 'agent_needs_input', { costMicro: 30_000n }, true],
    [
      'the same, when output was shown, which is paid',
      'agent_needs_input',
      { billedMicro: null, costMicro: 50_000n },
      true,
    ],
    [
      'the same, and its home gives all back',
      'agent_needs_input',
      { costMicro: 30_000n, promisedMicro: 30_000n },
      false,
    ],
    ['the same, and its home keeps a part', 'agent_needs_input', { costMicro: 30_000n, promisedMicro: 29_999n }, true],
    ['a question that nobody answered', 'input_timeout', {}, false],
    ['a question that was declined', 'input_declined', {}, false],
    ['the same, and it kept money', 'input_declined', { costMicro: 30_000n }, true],
    ['a free call', 'agent_error', { scheme: null }, false],
    ['a payment that was never made', 'agent_error', { scheme: 'exact' }, false],
  ])('after %s (%s, %o) counts: %s', (_name, reason, changes, counts) =>
    expect(paidOutcomeOf({ ...call, ...changes }, failed(reason), known) !== null).toBe(counts),
  );

  it.each([
    [30_000, true],
    [30_001, false],
  ])('of a deadline that is missed counts from when it was called (after %i ms): %s', (askedMs, counts) =>
    expect(paidOutcomeOf(call, failed('deadline_exceeded'), { ...known, askedAt: new Date(askedMs) }) !== null).toBe(
      counts,
    ),
  );

  it.each<FailureReason>(['deadline_exceeded', 'agent_unreachable'])(
    'is none when it was not called (%s), unless money is kept for it',
    (reason) => {
      const unasked = { ...failed(reason), isUnasked: true } as const;
      expect(paidOutcomeOf(call, unasked, known)).toBeNull();
      expect(paidOutcomeOf({ ...call, costMicro: 1n }, unasked, known)).toMatchObject({ isGood: false });
    },
  );
});
