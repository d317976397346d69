import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import type { PaymentRequiredV1, PaymentRequiredV2 } from '@agent-network/contracts/payments/x402';
import { keepUnpaid, refuseUnpaid, type UnpaidTask } from '../../../calls/keep-unpaid.ts';
import { readUnowned } from '../../../calls/read-invocation.ts';
import type { PaymentRequiredError } from '../../../payments/x402/payment-required.ts';
import { OFFER_LIFETIME_S } from '../../../payments/x402/terms.ts';
import type { HttpContext } from '../../request/http-context.ts';
import type { A2aCall, Shape } from './a2a-call.ts';
import { A2aError, invalidParam } from './errors.ts';
import { rejectedMetadata, requiredMetadata } from './payments.ts';
import { contextOf, INVOKE_EXTENSION, plain, statusMessage, taskOf } from './tasks.ts';
import type { TaskState, WireTask } from './wire.ts';

interface Terms {
  readonly v1: PaymentRequiredV1 | null;
  readonly v2: PaymentRequiredV2;
}

/** A call that may have to wait for its payment. */
export interface PayableCall {
  readonly body: Readonly<Record<string, unknown>> & { readonly task: string };
  readonly quoteId: string | undefined;
  readonly messageKey: string;
  /** Set when it waits already. */
  readonly waiting: UnpaidTask | null;
}

/**
 * The task of a call with a payment due, kept until its terms expire. If it waits already, it keeps its terms, which contain the task id.
 * If its payment moved nothing, it has ended. Rethrows the 402 for a call that is too large to keep.
 */
export async function awaitPayment(
  ctx: HttpContext,
  call: A2aCall,
  asked: PayableCall,
  { due, shape }: { readonly due: PaymentRequiredError; readonly shape: Shape },
): Promise<WireTask> {
  const { waiting } = asked;
  const record = waiting && (await readUnowned(ctx, waiting.id));
  if (record) return unmovedTask(record, shape);
  if (waiting && due.reason === null) return unpaidTask(waiting, shape);
  const kept =
    waiting && due.reason !== null
      ? await refuseUnpaid(ctx, waiting, due.reason)
      : await keepTask(ctx, call, asked, due);
  // The terms of a refused voucher tell the sum of its channel: to its payer, in this answer.
  const { v1, v2, payment } = due.offer;
  return unpaidTask(payment.memo === kept.id ? { ...kept, offer: { v1, v2: namingTask(kept.id, v2) } } : kept, shape);
}

/** Terms that name their task, also to a client that pays them in a message that does not. */
const namingTask = (taskId: string, v2: PaymentRequiredV2): PaymentRequiredV2 => ({
  ...v2,
  accepts: v2.accepts.map(({ extra, ...terms }) => ({ ...terms, extra: { ...extra, taskId } })),
});

/** Terms in their stored form, without the sum of a channel, as anyone with the id of a keyless task can read them. */
const withoutSum = (v2: PaymentRequiredV2): PaymentRequiredV2 => ({
  ...v2,
  accepts: v2.accepts.map(({ extra: { channelState: _, voucherState: __, ...extra }, ...terms }) => ({
    ...terms,
    extra,
  })),
});

/**
 * A task with a payment that moved nothing: its terms belong to a request that has failed, so no other payment can pay for it. Throws
 * UNSUPPORTED_OPERATION for one that was paid meanwhile: another payment was refused, and there are no terms to return.
 */
function unmovedTask(record: RequestRecord, { network, historyLength }: Shape): WireTask {
  if (record.error?.code !== 'payment_failed') throw new A2aError('UNSUPPORTED_OPERATION', 'The task is already paid.');
  return taskOf(plain(record), { network, historyLength });
}

async function keepTask(
  ctx: HttpContext,
  { opened, agentId }: A2aCall,
  { body, quoteId, messageKey }: PayableCall,
  due: PaymentRequiredError,
): Promise<UnpaidTask> {
  const call = { agentId, body, messageKey, quoteId: quoteId ?? null, refusal: due.reason };
  const expiresAt = new Date(ctx.clock.now().getTime() + OFFER_LIFETIME_S * 1000);
  const { v1, v2, payment } = due.offer;
  const kept = await keepUnpaid(ctx, opened.caller, call, {
    id: payment.memo,
    offer: { v1, v2: namingTask(payment.memo, withoutSum(v2)) },
    expiresAt,
  });
  if (!kept) throw due;
  return kept;
}

const endings: Record<'rejected' | 'cancelled', readonly [TaskState, string]> = {
  rejected: ['TASK_STATE_FAILED', 'The payment was declined by the caller. Nothing was charged.'],
  cancelled: ['TASK_STATE_CANCELED', 'The task was cancelled before it was paid. Nothing was charged.'],
};

/** The state of a call that waits for its payment. */
export const stateOf = ({ ended }: UnpaidTask): TaskState => (ended ? endings[ended][0] : 'TASK_STATE_INPUT_REQUIRED');

/** A call that waits for its payment, as a task. */
export function unpaidTask(unpaid: UnpaidTask, { takesV1, network, historyLength }: Shape): WireTask {
  const { id, body, refusal, ended, createdAt } = unpaid;
  const contextId = contextOf({ requestId: id, metadata: body.metadata as Record<string, unknown> });
  const { v1, v2 } = unpaid.offer as Terms;
  const required = takesV1 ? { ...v1, error: refusal ?? 'Payment required' } : v2;
  const text = ended
    ? endings[ended][1]
    : refusal
      ? `The payment was refused: ${refusal}. The terms stand.`
      : 'Payment is required: send a message with this taskId and the payment.';
  const metadata = ended === 'rejected' ? rejectedMetadata : ended ? {} : requiredMetadata(required, refusal, network);
  const task = String(body.task);
  return {
    id,
    contextId,
    status: {
      state: stateOf(unpaid),
      message: statusMessage(id, contextId, text, metadata),
      timestamp: createdAt.toISOString(),
    },
    ...(historyLength === 0
      ? {}
      : { history: [{ messageId: `${id}-task`, contextId, taskId: id, role: 'ROLE_USER', parts: [{ text: task }] }] }),
    metadata: { [INVOKE_EXTENSION]: {} },
  };
}

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});
const PAYLOAD = 'message.metadata["x402.payment.payload"]';

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Fields of a payment that identify its task. */
export function namesIn(payload: unknown) {
  const shown = fieldsOf(payload);
  const extra = fieldsOf(fieldsOf(shown.accepted).extra);
  return {
    taskId: textOf(extra.taskId),
    memo: textOf(extra.memo),
    nonce: textOf(fieldsOf(fieldsOf(shown.payload).authorization).nonce),
  };
}

/** True if the terms of this task offer the nonce. */
export function offersNonce({ offer }: UnpaidTask, nonce: string | undefined): boolean {
  const { v1, v2 } = offer as Terms;
  return [...(v1?.accepts ?? []), ...v2.accepts].some(({ extra }) => extra.nonce === nonce);
}

/** A payment in the form that starts expect. */
export interface TaskPayment {
  readonly payment: unknown;
  /** True when the offer around it is the one that the node kept. */
  readonly isOfferLent: boolean;
}

/**
 * The payment in a message for a task, bound to the terms of this task. A payload of version 1 has no field for the terms, so the task id
 * stands in, which does not prove the sender. Throws INVALID_PARAMS when it names the terms of another task.
 */
export function paymentFor({ id, offer }: UnpaidTask, payload: unknown): TaskPayment {
  const shown = fieldsOf(payload);
  const { v1, v2 } = offer as Terms;
  const [accepted] = v2.accepts;
  if (shown.x402Version === 1) {
    const isSameNetwork = shown.network === v1?.accepts[0]?.network;
    const network = isSameNetwork ? accepted?.network : shown.network;
    const bound = { ...accepted, scheme: shown.scheme, network };
    return { payment: { x402Version: 2, accepted: bound, payload: shown.payload }, isOfferLent: true };
  }
  const { memo } = fieldsOf(fieldsOf(shown.accepted).extra);
  if (memo !== id) throw invalidParam(PAYLOAD, 'must echo the terms of this task in `accepted`, with their `extra`');
  return { payment: payload, isOfferLent: false };
}
