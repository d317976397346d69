import { formatUsdc } from '@agent-network/contracts/money';
import { type OperatorInvocation, operatorTimelineEvents } from '@agent-network/contracts/network/operator-invocation';
import { endReasonOf } from '../calls/finish/report-ended.ts';
import { timelineOf } from '../calls/read/timeline.ts';
import { notFound } from '../lib/app-error.ts';
import { iso } from '../lib/iso.ts';
import type { Store } from '../store/database.ts';
import type { Tx } from '../store/sql.ts';
import { refundOf } from './invocation-refund.ts';
import {
  findTrace,
  findTraceVoucher,
  listTraceAttempts,
  listTraceDeliveries,
  listTracePayments,
  listTraceQueues,
  listTraceTransfers,
  type TraceAttempt,
  type TraceDelivery,
  type TracePayment,
  type TraceRow,
  type TraceTransfer,
  type TraceVoucher,
} from './invocation-trace-store.ts';

/**
 * Any invocation for an operator: the reason of its end, its refund, payments, deliveries and open work, read in one snapshot. Holds no
 * input and no result. Throws NOT_FOUND.
 */
export async function readOperatorInvocation(ctx: Store, id: string): Promise<OperatorInvocation> {
  const trace = await ctx.db.transaction((tx) => readTrace(tx, id), { isolation: 'repeatable read' });
  if (!trace) throw notFound('request');
  const { row, payments, voucher, transfers, deliveries, attempts, queues } = trace;
  return {
    ...toFacts(row),
    refund: refundOf(row, payments, transfers),
    timeline: courseOf(row, payments, attempts),
    payments: payments.map(toPayment),
    voucher: voucher && toVoucher(voucher),
    transfers: transfers.map(toTransfer),
    deliveries: deliveries.map(toDelivery),
    queues: queues.map(({ kind, at }) => ({ kind, at: iso(at) })),
  };
}

async function readTrace(tx: Tx, id: string) {
  const row = await findTrace(tx, id);
  if (!row) return null;
  const payments = await listTracePayments(tx, id);
  const paymentIds = payments.map((payment) => payment.id);
  const subjectIds = [id, ...paymentIds];
  const deliveries = await listTraceDeliveries(tx, subjectIds);
  return {
    row,
    payments,
    deliveries,
    voucher: await findTraceVoucher(tx, id),
    transfers: await listTraceTransfers(tx, id, paymentIds),
    attempts: await listTraceAttempts(
      tx,
      deliveries.map(({ deliveryId }) => deliveryId),
    ),
    queues: await listTraceQueues(tx, id, subjectIds),
  };
}

function toFacts(row: TraceRow) {
  const { id, status, errorMessage, cancelReason, accountId, callerAgentId, agentId, requestedAgentId, bulkId } = row;
  const { paymentMethod, payerLedgerId, priceMicro, costMicro, attempt, worker, homeNodeId, homeRequestId } = row;
  return {
    ...{ requestId: id, status, reason: endReasonOf(row, cancelReason), message: errorMessage },
    ...{ accountId, callerAgentId, agentId, requestedAgentId, bulkId, paymentMethod, payer: payerLedgerId },
    price: formatUsdc(priceMicro),
    cost: costMicro === null ? null : formatUsdc(costMicro),
    ...{ attempts: attempt, processId: worker },
    home: homeNodeId !== null && homeRequestId !== null ? { nodeId: homeNodeId, requestId: homeRequestId } : null,
    createdAt: row.createdAt.toISOString(),
    startedAt: iso(row.startedAt),
    completedAt: iso(row.completedAt),
    deadline: row.deadline.toISOString(),
  };
}

const toPayment = (payment: TracePayment): OperatorInvocation['payments'][number] => {
  const { id, purpose, direction, state, valueMicro, from, to, transactionHash, blockNumber, reason } = payment;
  return {
    ...{ paymentId: id, purpose, direction, state, amount: formatUsdc(valueMicro), from, to, transactionHash, reason },
    blockNumber: blockNumber === null ? null : Number(blockNumber),
    createdAt: payment.createdAt.toISOString(),
    endedAt: iso(payment.endedAt),
    lostAt: iso(payment.lostAt),
  };
};

const toVoucher = ({ channelId, maxMicro, amountMicro, chargedMicro, createdAt, endedAt }: TraceVoucher) => ({
  channelId,
  voucher: formatUsdc(maxMicro),
  reserved: formatUsdc(amountMicro),
  reservedAt: createdAt.toISOString(),
  charged: chargedMicro === null ? null : formatUsdc(chargedMicro),
  released: chargedMicro === null ? null : formatUsdc(amountMicro - chargedMicro),
  endedAt: iso(endedAt),
});

const toTransfer = ({ id, kind, debit, credit, amountMicro, createdAt }: TraceTransfer) => ({
  ...{ transferId: id, kind, debit, credit },
  amount: formatUsdc(amountMicro),
  at: createdAt.toISOString(),
});

const toDelivery = ({ nextAttemptAt, createdAt, ...delivery }: TraceDelivery) => ({
  ...delivery,
  nextAttemptAt: iso(nextAttemptAt),
  createdAt: createdAt.toISOString(),
});

type Entry = OperatorInvocation['timeline'][number];

/** The timeline of an invocation with holds, credited refunds and webhook attempts, in order of time; simultaneous events in their causal order. */
function courseOf(row: TraceRow, payments: readonly TracePayment[], attempts: readonly TraceAttempt[]): Entry[] {
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
