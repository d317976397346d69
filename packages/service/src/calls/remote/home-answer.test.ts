import { expect, it } from 'vitest';
import { type HomeRecord, outcomeOf } from './home-answer.ts';

const failedWith = (code: string): HomeRecord => ({
  ...{
    homeRequestId: 'req_1',
    status: 'failed',
    result: null,
    usage: null,
    inputRequest: null,
    refundMicro: 0n,
    completedAt: null,
  },
  error: { code, message: '' },
});

it.each([
  ['deadline_exceeded', 'deadline_exceeded'],
  ['agent_error', 'agent_error'],
  ['payment_failed', 'agent_error'],
  ['node_restored', 'agent_error'],
  ['made_up', 'agent_error'],
])('a home that fails a request with %s: %s', (code, reason) =>
  expect(outcomeOf(failedWith(code))).toMatchObject({ kind: 'failed', reason }),
);
