import type { RequestRecord } from '@agent-network/contracts/invocations';
import type { Tone } from '../../ui/badge.tsx';
import type { TimelineEntry } from '../../ui/timeline.tsx';
import { isOpen } from './invocation.ts';

const endTones: Readonly<Record<string, Tone>> = { completed: 'good', failed: 'bad', cancelled: 'neutral' };

const paidBy: Readonly<Record<RequestRecord['paymentMethod'], string>> = {
  treasury: 'Set aside in the treasury.',
  x402: 'Paid by wallet (x402).',
  free: 'Free of charge.',
};

/** What is known of an invocation's way, from first to last. */
export function timelineOf(record: RequestRecord): readonly TimelineEntry[] {
  const { status, createdAt, completedAt, deadline, duration, refund } = record;
  const accepted: TimelineEntry = {
    title: 'Accepted',
    at: createdAt,
    detail: paidBy[record.paymentMethod],
    tone: 'accent',
  };
  if (isOpen(record)) {
    const state = status === 'processing' ? 'The agent is working' : 'Waiting for the agent';
    return [accepted, { title: state, at: null, tone: 'warn' }, { title: 'Deadline', at: deadline }];
  }
  const ended: TimelineEntry = {
    title: status === 'completed' ? 'Completed' : status === 'failed' ? 'Failed' : 'Cancelled',
    at: completedAt,
    tone: endTones[status] ?? 'neutral',
    detail: duration ? `After ${duration}.` : undefined,
  };
  return refund !== null && Number(refund) > 0
    ? [accepted, ended, { title: 'Refunded', at: completedAt, detail: `${refund} USDC went back.` }]
    : [accepted, ended];
}
