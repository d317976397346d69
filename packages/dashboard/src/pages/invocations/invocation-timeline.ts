import type { RequestDetail, TimelineEvent } from '@agent-network/contracts/invocations/invocations';
import type { Tone } from '../../ui/values/badge.tsx';
import { type DetailedRecord, isOpen } from './invocation.ts';

/** One moment of an invocation; `at` null: it has not come yet. */
export interface Step {
  readonly title: string;
  readonly at: string | null;
  readonly tone: Tone;
  readonly text?: string | undefined;
  readonly transactionHash?: string | undefined;
}

const told: Readonly<Record<TimelineEvent, readonly [title: string, tone: Tone]>> = {
  created: ['Accepted', 'accent'],
  payment_shown: ['Payment received', 'neutral'],
  payment_settled: ['Payment settled on chain', 'good'],
  payment_failed: ['Payment failed', 'bad'],
  started: ['Agent called', 'accent'],
  bill_signed: ["Agent's charge signed", 'neutral'],
  bill_collected: ['Charge collected by the agent', 'neutral'],
  bill_returned: ['Charge not collected, money returned', 'neutral'],
  completed: ['Completed', 'good'],
  failed: ['Failed', 'bad'],
  cancelled: ['Cancelled', 'neutral'],
  refund_signed: ['Refund in progress', 'warn'],
  refund_settled: ['Refunded on chain', 'good'],
};

const usdc = (amount: string) => `${amount} USDC`;

/** Text of an amount by timeline event; events without one show no amount. */
const amountText: Partial<Record<TimelineEvent, (amount: string) => string>> = {
  created: (price) => `Price: ${usdc(price)}`,
  completed: (cost) => `Cost: ${usdc(cost)}`,
};

function stepOf({ event, at, amount, transactionHash, reason }: RequestDetail['timeline'][number]): Step {
  const [title, tone] = told[event];
  const isEnd = event === 'failed' || event === 'cancelled';
  const money = amount === null || isEnd ? null : (amountText[event] ?? usdc)(amount);
  const text = [money, reason].filter(Boolean).join('. ') || undefined;
  return { title, tone, at, text, transactionHash: transactionHash ?? undefined };
}

/** A refund into a treasury has no transaction: the amount only stopped being held. */
function treasuryRefund({ detail, refund, completedAt }: DetailedRecord): Step[] {
  const isOnChain = detail?.timeline.some(({ event }) => event === 'refund_signed' || event === 'refund_settled');
  if (isOnChain || refund === null || Number(refund) === 0) return [];
  return [{ title: 'Refunded', at: completedAt, tone: 'good', text: `${usdc(refund)} returned to the treasury` }];
}

const waitingText: Partial<Record<DetailedRecord['status'], string>> = {
  processing: 'Agent is working',
  input_required: 'Waiting for your answer',
};

function stillToCome({ status, deadline }: DetailedRecord): Step[] {
  const title = waitingText[status] ?? 'Waiting for the agent';
  return [
    { title, at: null, tone: 'warn' },
    { title: 'Deadline', at: deadline, tone: 'neutral' },
  ];
}

/** The known events of an invocation, in order. */
export function timelineOf(record: DetailedRecord): readonly Step[] {
  const past = (record.detail?.timeline ?? []).map(stepOf);
  return [...past, ...(isOpen(record) ? stillToCome(record) : treasuryRefund(record))];
}
