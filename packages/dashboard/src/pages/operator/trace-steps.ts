import type { OperatorInvocation, OperatorTimelineEvent } from '@agent-network/contracts/network/operator-invocation';
import type { Tone } from '../../ui/values/badge.tsx';

export interface TraceStep {
  readonly title: string;
  readonly at: string;
  readonly tone: Tone;
  readonly text: string | null;
  readonly transactionHash: string | null;
}

const texts: Readonly<Record<OperatorTimelineEvent, readonly [title: string, tone: Tone]>> = {
  payment_shown: ['Payment received', 'neutral'],
  created: ['Accepted', 'accent'],
  payment_settled: ['Payment settled on chain', 'good'],
  payment_failed: ['Payment failed', 'bad'],
  held: ['Money held', 'neutral'],
  started: ['Agent called', 'accent'],
  bill_signed: ["Agent's charge signed", 'neutral'],
  completed: ['Completed', 'good'],
  failed: ['Failed', 'bad'],
  cancelled: ['Cancelled', 'neutral'],
  released: ['Hold released', 'good'],
  bill_collected: ['Charge collected by the agent', 'neutral'],
  bill_returned: ['Charge not collected, money returned', 'neutral'],
  refund_signed: ['Refund signed', 'warn'],
  refund_settled: ['Refund settled on chain', 'good'],
  refund_credited: ['Refund credited at this node', 'good'],
  webhook_delivered: ['Webhook delivered', 'good'],
  webhook_failed: ['Webhook attempt failed', 'bad'],
};

/** The reason of an end or a state, as words: "agent_error" becomes "agent error". */
export const wordsOf = (code: string): string => code.replaceAll('_', ' ');

/** The timeline of an invocation, ready to be shown. */
export const stepsOf = ({ timeline, reason }: OperatorInvocation): readonly TraceStep[] =>
  timeline.map(({ event, at, amount, transactionHash, reason: detail }) => {
    const [title, tone] = texts[event];
    const said = detail === reason && detail !== null ? wordsOf(detail) : detail;
    const text = [amount === null ? null : `${amountText(event, amount)}`, said].filter(Boolean).join('. ') || null;
    return { title, tone, at, text, transactionHash };
  });

function amountText(event: OperatorTimelineEvent, amount: string): string {
  if (event === 'created') return `Price: ${amount} USDC`;
  const isEnd = event === 'completed' || event === 'failed' || event === 'cancelled';
  return isEnd ? `Cost: ${amount} USDC` : `${amount} USDC`;
}
