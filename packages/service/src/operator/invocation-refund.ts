import { formatUsdc } from '@agent-network/contracts/money';
import type { OperatorInvocation } from '@agent-network/contracts/network/operator-invocation';
import { payingChannel } from '../payments/schemes/batch-settlement/channel.ts';
import type { TracePayment, TraceRow, TraceTransfer } from './invocation-trace-store.ts';

type Refund = NonNullable<OperatorInvocation['refund']>;
type Part = Refund['parts'][number];

const outgoing = ['refund', 'return', 'second_return'];

/** The refund of an invocation with the way of each part; null while it is open. */
export function refundOf(
  row: TraceRow,
  payments: readonly TracePayment[],
  transfers: readonly TraceTransfer[],
): Refund | null {
  const { completedAt, refundMicro, promisedMicro, returnedMicro } = row;
  if (completedAt === null) return null;
  const isExpected = promisedMicro !== null && promisedMicro > returnedMicro;
  return {
    amount: formatUsdc(refundMicro ?? 0n),
    expected: isExpected ? formatUsdc(promisedMicro - returnedMicro) : null,
    parts: [
      ...heldParts(row, transfers),
      ...payments.flatMap((payment) => (outgoing.includes(payment.purpose) ? [chainPart(payment, transfers)] : [])),
    ],
  };
}

/** Refunds to a paying treasury or channel: the unspent part of the hold, and bills that came back to a treasury. */
function heldParts(row: TraceRow, transfers: readonly TraceTransfer[]): Part[] {
  const { payerLedgerId, heldMicro, capturedMicro, releasedAt } = row;
  if (payerLedgerId === null) return [];
  if (row.scheme === 'exact') return [];
  const channelId = payingChannel(row);
  const way = channelId === null ? 'treasury' : 'channel';
  const part = (amountMicro: bigint, at: Date): Part => ({
    ...{ way, amount: formatUsdc(amountMicro), state: 'settled', to: channelId ?? payerLedgerId },
    ...{ transactionHash: null, at: at.toISOString() },
  });
  const freedMicro = (heldMicro ?? 0n) - (capturedMicro ?? 0n);
  const returned = transfers.filter(({ kind, credit }) => kind === 'bill_return' && credit === payerLedgerId);
  return [
    ...(releasedAt && freedMicro > 0n ? [part(freedMicro, releasedAt)] : []),
    ...returned.map(({ amountMicro, createdAt }) => part(amountMicro, createdAt)),
  ];
}

function chainPart(payment: TracePayment, transfers: readonly TraceTransfer[]): Part {
  const { purpose, valueMicro, state, lostAt, to, transactionHash, createdAt, endedAt, isSigned } = payment;
  const isOf = ({ id }: TraceTransfer) =>
    id.startsWith('refund:') && (purpose === 'refund' || id.endsWith(`:${purpose}`));
  const stateNow = lostAt !== null && state === 'settled' ? 'lost' : state;
  return {
    way: isSigned ? 'on_chain' : 'credited',
    amount: formatUsdc(valueMicro),
    state: stateNow === 'claimed' || stateNow === 'broadcasting' ? 'pending' : stateNow,
    to: isSigned ? to : (transfers.find(isOf)?.credit ?? to),
    transactionHash,
    at: (endedAt ?? createdAt).toISOString(),
  };
}
