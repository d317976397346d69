import type { RequestDetail } from '@agent-network/contracts/invocations/invocations';
import { expect, it } from 'vitest';
import type { DetailedRecord } from './invocation.ts';
import { timelineOf } from './invocation-timeline.ts';

type Told = RequestDetail['timeline'][number];

const at = (second: number) => `2026-01-01T00:00:0${second}.000Z`;
const told = (event: Told['event'], second: number, more: Partial<Told> = {}): Told => ({
  ...{ event, at: at(second), amount: null, transactionHash: null, reason: null },
  ...more,
});

const record = (status: DetailedRecord['status'], timeline: Told[], more: Partial<DetailedRecord> = {}) =>
  ({ status, completedAt: at(5), deadline: at(9), refund: null, detail: { timeline }, ...more }) as DetailedRecord;

const created = told('created', 1, { amount: '0.05' });
const started = told('started', 2);
const refunded = [told('refund_signed', 5), told('refund_settled', 6)];

it.each([
  ['pending', record('pending', [created]), ['Accepted', 'Waiting for the agent', 'Deadline']],
  ['running', record('processing', [created, started]), ['Accepted', 'Agent called', 'Agent is working', 'Deadline']],
  [
    'completed',
    record('completed', [created, started, told('completed', 5)], { refund: '0.00' }),
    ['Accepted', 'Agent called', 'Completed'],
  ],
  [
    'failed and paid from a treasury',
    record('failed', [created, started, told('failed', 5)], { refund: '0.05' }),
    ['Accepted', 'Agent called', 'Failed', 'Refunded'],
  ],
  [
    'failed and paid on chain',
    record('failed', [created, told('failed', 5), ...refunded], { refund: '0.05' }),
    ['Accepted', 'Failed', 'Refund in progress', 'Refunded on chain'],
  ],
  ['told without its detail', { ...record('cancelled', []), detail: undefined, refund: '0.05' }, ['Refunded']],
])('the way of one that is %s', (_what, given, titles) => {
  expect(timelineOf(given).map(({ title }) => title)).toEqual(titles);
});

it('says what money it was and why something ended, and has the transaction', () => {
  const steps = timelineOf(
    record('failed', [
      created,
      told('payment_settled', 2, { amount: '0.05', transactionHash: '0xab' }),
      told('failed', 5, { amount: '0.00', reason: '<b>no</b>' }),
    ]),
  );
  expect(steps.map(({ text }) => text)).toEqual(['Price: 0.05 USDC', '0.05 USDC', '<b>no</b>']);
  expect(steps[1]?.transactionHash).toBe('0xab');
});
