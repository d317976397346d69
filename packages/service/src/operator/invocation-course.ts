import { formatUsdc } from '@agent-network/contracts/money';
import { type OperatorInvocation, operatorTimelineEvents } from '@agent-network/contracts/network/operator-invocation';
import { endReasonOf } from '../invocations/finish/end-reason.ts';
import { timelineOf } from '../invocations/read/timeline.ts';
import type { TraceAttempt, TracePayment, TraceRow } from './invocation-trace-store.ts';

type Entry = OperatorInvocation['timeline'][number];

/** The timeline of an invocation with holds, credited refunds and webhook attempts, in order of time; simultaneous events in their causal order. */
export function courseOf(row: TraceRow, payments: readonly TracePayment[], attempts: readonly TraceAttempt[]): Entry[] {
  const isCredited = ({ direction, isSigned }: TracePayment) => direction === 'out' && !isSigned;
  const errorMessage = row.errorMessage ?? endReasonOf(row, row.cancelReason);
  return [
    ...timelineOf(
      { ...row, errorMessage },
      payments.filter((each) => !isCredited(each)),
    ),
    ...holdEntries(row),
    ...payments
      .filter(isCredited)
      .map((each) => entry('refund_credited', each.endedAt ?? each.createdAt, each.valueMicro)),
    ...attempts.map(attemptEntry),
  ].toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at) || rank(a) - rank(b));
}

/** `started_at` is set when the request arrives, so it can precede the hold by milliseconds: the hold is shown first, as it comes before the call. */
function holdEntries({ heldMicro, capturedMicro, heldAt, releasedAt, startedAt }: TraceRow): Entry[] {
  if (heldMicro === null || heldAt === null) return [];
  const freedMicro = heldMicro - (capturedMicro ?? 0n);
  return [
    entry('held', startedAt !== null && startedAt < heldAt ? startedAt : heldAt, heldMicro),
    ...(releasedAt && freedMicro > 0n ? [entry('released', releasedAt, freedMicro)] : []),
  ];
}

function attemptEntry({ type, number, at, status, error }: TraceAttempt): Entry {
  const isDelivered = status !== null && status >= 200 && status < 300;
  const reason = `${type}, attempt ${number}: ${error ?? status ?? 'no answer'}`;
  return { ...entry(isDelivered ? 'webhook_delivered' : 'webhook_failed', at, null), reason };
}

const entry = (event: Entry['event'], at: Date, amountMicro: bigint | null): Entry => ({
  at: at.toISOString(),
  event,
  amount: amountMicro === null ? null : formatUsdc(amountMicro),
  transactionHash: null,
  reason: null,
});

const rank = ({ event }: Entry): number => operatorTimelineEvents.indexOf(event);
