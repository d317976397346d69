import type { RequestDetail, RequestRecord, TimelineEvent } from '@agent-network/contracts/invocations/invocations';
import { formatUsdc } from '@agent-network/contracts/money';
import type { KnownCaller } from '../../accounts/caller.ts';
import { type PreparedJson, prepareJson } from '../../lib/json/prepared-json.ts';
import { type Movement, movementsOf } from '../../payments/statements/movements-of.ts';
import type { Store } from '../../store/database.ts';
import type { Invocation } from '../invocation.ts';
import { toRecord } from '../invocation-view.ts';
import { requireOwn } from '../read-invocation.ts';
import { findContent } from '../record-store.ts';
import { compareWithRecent } from '../usage/recent-usage.ts';

type Entry = RequestDetail['timeline'][number];
/** The events of a movement: its begin, and both of its ends; null: not shown. */
type Names = readonly [begun: TimelineEvent | null, settled: TimelineEvent, failed: TimelineEvent | null];

const namesOf: Record<Movement['purpose'], Names | null> = {
  invocation: ['payment_shown', 'payment_settled', 'payment_failed'],
  bill: ['bill_signed', 'bill_collected', 'bill_returned'],
  refund: ['refund_signed', 'refund_settled', null],
  return: ['refund_signed', 'refund_settled', null],
  second_return: ['refund_signed', 'refund_settled', null],
  home_refund: [null, 'refund_settled', null],
  home_return: [null, 'refund_settled', null],
  deposit: null,
  withdrawal: null,
  channel_deposit: null,
};

type Told = Pick<
  Invocation,
  'createdAt' | 'startedAt' | 'completedAt' | 'status' | 'priceMicro' | 'costMicro' | 'errorMessage'
>;

/** The timeline of a request in order of time; simultaneous events in their causal order. */
export function timelineOf(invocation: Told, movements: readonly Movement[]): Entry[] {
  const { createdAt, startedAt, completedAt, status } = invocation;
  const own: Entry[] = [entry('created', createdAt, { amountMicro: invocation.priceMicro })];
  if (startedAt) own.push(entry('started', startedAt));
  const ended =
    completedAt && (status === 'completed' || status === 'failed' || status === 'cancelled')
      ? [entry(status, completedAt, { amountMicro: invocation.costMicro, reason: invocation.errorMessage })]
      : [];
  const moved = movements.flatMap(entriesOf);
  return [...own, ...moved, ...ended].toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at) || rank(a) - rank(b));
}

function entriesOf({ purpose, state, valueMicro, transactionHash, reason, createdAt, endedAt }: Movement): Entry[] {
  const names = namesOf[purpose];
  if (!names) return [];
  const [begun, settled, failed] = names;
  const isSettled = state === 'settled';
  const ended = isSettled ? settled : failed;
  return [
    ...(begun ? [entry(begun, createdAt, { amountMicro: valueMicro })] : []),
    ...(endedAt && ended
      ? [entry(ended, endedAt, { amountMicro: valueMicro, transactionHash, reason: isSettled ? null : reason })]
      : []),
  ];
}

const entry = (
  event: TimelineEvent,
  at: Date,
  more: { amountMicro?: bigint | null; transactionHash?: string | null; reason?: string | null } = {},
): Entry => ({
  at: at.toISOString(),
  event,
  amount: more.amountMicro == null ? null : formatUsdc(more.amountMicro),
  transactionHash: more.transactionHash ?? null,
  reason: more.reason ?? null,
});

const order: readonly TimelineEvent[] = [
  ...(['payment_shown', 'created', 'payment_settled', 'payment_failed', 'started', 'bill_signed'] as const),
  ...([
    'completed',
    'failed',
    'cancelled',
    'bill_collected',
    'bill_returned',
    'refund_signed',
    'refund_settled',
  ] as const),
];
const rank = ({ event }: Entry): number => order.indexOf(event);

/** A request of the caller with its input and timeline. Two look-ups by id. */
export async function readInvocationDetail(
  ctx: Store,
  caller: KnownCaller,
  requestId: string,
): Promise<RequestRecord & { detail: PreparedJson }> {
  const invocation = requireOwn(await findContent(ctx.db, requestId), caller);
  const { input, context, webhookUrl, isStreamed, startedAt, callerAgentId, priceMicro, attempt } = invocation;
  const comparison = await compareWithRecent(ctx, invocation);
  const timeline = timelineOf(invocation, await movementsOf(ctx, requestId));
  const detail: Omit<RequestDetail, 'input'> & { input: PreparedJson } = {
    ...{ input, context, webhookUrl, callerAgentId, timeline },
    streamed: isStreamed,
    startedAt: startedAt?.toISOString() ?? null,
    price: formatUsdc(priceMicro),
    attempts: attempt,
    ...(comparison ? { usage: comparison } : {}),
  };
  return {
    ...toRecord(invocation),
    detail: prepareJson(detail),
  };
}
