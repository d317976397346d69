import { createHash } from 'node:crypto';
import type { SettleResponse } from '@agent-network/contracts/payments/x402';
import { hasEnded, isAtRest } from '../../../calls/invocation.ts';
import { giveUpUnpaid, listUnpaid, readUnpaid } from '../../../calls/keep-unpaid.ts';
import { keylessResourceOf, resourceOf } from '../../../calls/start/invocation-purchase.ts';
import { readAnswers } from '../../../calls/turns/read-answers.ts';
import { readMediaType, UNKNOWN_TYPE } from '../../../files/file-facts.ts';
import { PaymentRequiredError } from '../../../payments/x402/payment-required.ts';
import { readerOf } from '../../api/reader-of.ts';
import type { HttpContext } from '../../request/http-context.ts';
import { follow, MAX_WAIT_MS } from '../common/follow.ts';
import { storeForGateway } from '../common/gateway-files.ts';
import { followStarted, isRepetition, type Started, settlementAtEnd, startPurchase } from '../common/purchase.ts';
import { admitRead, countRead, streamedTo } from '../common/read-room.ts';
import { type A2aCall, type A2aStream, shapeOf } from './a2a-call.ts';
import { type Answered, answerTask, takesNone } from './answer-task.ts';
import { invalidParam } from './errors.ts';
import { readMessage } from './messages.ts';
import { type PaymentStep, paymentStepOf } from './payments.ts';
import { addToBought, pushOfMessage } from './push-configs.ts';
import { followTask, once } from './streams.ts';
import { readHeaders, wholeTask } from './task-operations.ts';
import { contextOf, type TaskShape, taskOf } from './tasks.ts';
import {
  awaitPayment,
  namesIn,
  offersNonce,
  type PayableCall,
  paymentFor,
  type TaskPayment,
  unpaidTask,
} from './unpaid-tasks.ts';
import type { Part, SendMessage, StreamResponse, WireTask } from './wire.ts';

/** Outcome of a message: a request that was started or found, one with its question answered, or a task that does not run. */
type Begun =
  | { readonly kind: 'started'; readonly started: Started; readonly shape: TaskShape; readonly settledBy: SettledBy }
  | { readonly kind: 'answered'; readonly answered: Answered }
  | { readonly kind: 'unpaid'; readonly task: WireTask };

/** Reads how x402 has paid for the request by now: the charge, and the receipt of the delivery. */
type SettledBy = () => Promise<SettleResponse | null>;

interface Way {
  readonly isAwaited: boolean;
  readonly isStreamed: boolean;
}

/** Answers a message with its task: once it has ended or waits for its payment, or at once if the client wants. */
export async function sendMessage(ctx: HttpContext, call: A2aCall, params: SendMessage): Promise<WireTask> {
  const isAwaited = params.configuration?.returnImmediately !== true;
  const begun = await begin(ctx, call, params, { isAwaited, isStreamed: false });
  const { opened } = call;
  const { signal } = opened.c.req.raw;
  if (begun.kind === 'unpaid') return begun.task;
  if (begun.kind === 'answered') return answeredTask(ctx, call, params, { ...begun.answered, isAwaited });
  const { data } = isAwaited
    ? await followStarted(ctx, opened, begun.started, { waitMs: MAX_WAIT_MS, signal })
    : begun.started.first;
  const settlement = hasEnded(data.status) ? await begun.settledBy() : begun.started.settlement;
  const answers = await readAnswers(ctx, data);
  return taskOf(data, { ...begun.shape, settlement, answers });
}

/** The task of an answered question: once it has ended or asks again, or at once if the client wants. */
async function answeredTask(
  ctx: HttpContext,
  call: A2aCall,
  { configuration }: SendMessage,
  { record, isRepeated, isAwaited }: Answered & { readonly isAwaited: boolean },
): Promise<WireTask> {
  const { opened } = call;
  const { requestId } = record;
  const shape = shapeOf(ctx, call, configuration ?? {});
  if (!isAwaited || isAtRest(record.status)) return wholeTask(ctx, record, shape);
  if (isRepeated) admitRead(opened, 'getInvocation');
  const reader = await readerOf(ctx, opened.caller, { requestId, headers: readHeaders(ctx, call, requestId) });
  const now = await follow(ctx, reader, requestId, { waitMs: MAX_WAIT_MS, signal: opened.c.req.raw.signal });
  if (isRepeated) countRead(opened, 'getInvocation', now.json);
  return wholeTask(ctx, now.data, shape);
}

/** Answers a message with the stream of its task. */
export async function streamMessage(
  ctx: HttpContext,
  call: A2aCall,
  params: SendMessage,
): Promise<A2aStream<StreamResponse>> {
  const begun = await begin(ctx, call, params, { isAwaited: true, isStreamed: true });
  if (begun.kind === 'unpaid') return once({ task: begun.task });
  if (begun.kind === 'answered') return answeredStream(ctx, call, params, begun.answered);
  const { started, shape, settledBy } = begun;
  const { data } = started.first;
  if (started.isWithheld) return once({ task: taskOf(data, shape) });
  if (hasEnded(data.status)) return once({ task: taskOf(data, { ...shape, settlement: await settledBy() }) });
  const isRead = isRepetition(started);
  if (isRead) admitRead(call.opened, 'getInvocation');
  return {
    requestId: data.requestId,
    sent: isRead ? streamedTo(call.opened, 'getInvocation') : undefined,
    open: (signal) =>
      followTask(ctx, data, { ...shape, settledBy }, ctx.revocations.whileValid(call.opened.caller, signal)),
  };
}

/** The stream of a task from an answer on; of a repeated answer, from its begin. */
async function answeredStream(
  ctx: HttpContext,
  call: A2aCall,
  { configuration }: SendMessage,
  { record, isRepeated, after }: Answered,
): Promise<A2aStream<StreamResponse>> {
  const { opened } = call;
  const shape = { ...shapeOf(ctx, call, configuration ?? {}), after, answers: await readAnswers(ctx, record) };
  if (hasEnded(record.status)) return once({ task: taskOf(record, shape) });
  if (isRepeated) admitRead(opened, 'getInvocation');
  return {
    requestId: record.requestId,
    sent: isRepeated ? streamedTo(opened, 'getInvocation') : undefined,
    open: (signal) => followTask(ctx, record, shape, ctx.revocations.whileValid(opened.caller, signal)),
  };
}

async function begin(ctx: HttpContext, call: A2aCall, params: SendMessage, way: Way): Promise<Begun> {
  const config = params.configuration?.taskPushNotificationConfig;
  const push = config && (await pushOfMessage(ctx, call, { message: params.message, config }));
  const begun = await beginTask(ctx, call, params, way);
  // A process that dies here tells nobody: the same message again finds the task, and adds it.
  if (push) await addToBought(ctx, call, taskIdOf(begun), push);
  return begun;
}

function taskIdOf(begun: Begun): string {
  if (begun.kind === 'unpaid') return begun.task.id;
  return begun.kind === 'started' ? begun.started.first.data.requestId : begun.answered.record.requestId;
}

async function beginTask(ctx: HttpContext, call: A2aCall, params: SendMessage, way: Way): Promise<Begun> {
  const { message } = params;
  const step = paymentStepOf({ ...params.metadata, ...message.metadata });
  const taskId = message.taskId ?? (await paidTaskOf(ctx, call, step));
  if (taskId !== undefined) return goOn(ctx, call, params, { ...way, step, taskId });
  if (step.kind === 'rejected') throw invalidParam('message.taskId', 'is missing: it names the task that is not paid');
  const asked = readMessage(await withFilesStored(ctx, call, params));
  const messageKey = keyOf(call.agentId, message.messageId);
  const payment = step.kind === 'submitted' ? { payment: step.payload, isOfferLent: false } : null;
  return buy(ctx, call, { ...asked, messageKey, waiting: null }, { ...way, payment, params });
}

/**
 * The task named by the payment of a message without a task id: it is paid as first sent, and this message's text is ignored. undefined:
 * the payment is for the message itself. Throws INVALID_PARAMS for a payment that does not say which task it is for.
 */
async function paidTaskOf(ctx: HttpContext, call: A2aCall, step: PaymentStep): Promise<string | undefined> {
  if (step.kind !== 'submitted') return;
  const { taskId, memo, nonce } = namesIn(step.payload);
  if (taskId !== undefined) return taskId;
  if (memo !== undefined) return (await readUnpaid(ctx, call.opened.caller, memo)) ? memo : undefined;
  const waiting = nonce === undefined ? [] : await listUnpaid(ctx, call.opened.caller, call.agentId);
  const named = waiting.find((task) => offersNonce(task, nonce))?.id;
  if (named === undefined) throw invalidParam('message.taskId', 'is missing: it names the task that is paid');
  return named;
}

/** Base64 of this length and more is stored as a file; what is shorter reaches the agent as it is. */
const MIN_FILE_CHARS = 64 * 1024;

/** Stores large contents of a message as files of the caller. Callers without a key have none, and agents of other nodes take none. */
async function withFilesStored(
  ctx: HttpContext,
  { opened, agentId }: A2aCall,
  params: SendMessage,
): Promise<SendMessage> {
  const { message } = params;
  const isLarge = ({ raw }: Part) => typeof raw === 'string' && raw.length >= MIN_FILE_CHARS;
  if (opened.caller.kind === 'anonymous' || !message.parts.some(isLarge)) return params;
  if ((await ctx.agentFinder.find(agentId))?.home) return params;
  const parts: Part[] = [];
  for (const part of message.parts) {
    if (!isLarge(part)) parts.push(part);
    else {
      const content = {
        bytes: Buffer.from(part.raw ?? '', 'base64'),
        mediaType: readMediaType(part.mediaType) ?? UNKNOWN_TYPE,
      };
      const { fileId } = await storeForGateway(ctx, opened, { ...content, name: part.filename });
      parts.push({ ...part, raw: undefined, $file: fileId });
    }
  }
  return { ...params, message: { ...message, parts } };
}

/** The Idempotency-Key of a message: its id is the client's, and may name one message of each agent. */
const keyOf = (agentId: string, messageId: string): string =>
  `a2a_${createHash('sha256').update(`${agentId}\n${messageId}`).digest('base64url')}`;

/** A message for a task: one that waits for its payment, or for an answer. */
async function goOn(
  ctx: HttpContext,
  call: A2aCall,
  params: SendMessage,
  { taskId, step, ...way }: Way & { readonly taskId: string; readonly step: PaymentStep },
): Promise<Begun> {
  const { contextId } = params.message;
  const wanted = shapeOf(ctx, call, params.configuration ?? {});
  const waiting = await readUnpaid(ctx, call.opened.caller, taskId);
  if (waiting?.agentId !== call.agentId || (waiting.isPaid && step.kind === 'none'))
    return { kind: 'answered', answered: await answerTask(ctx, call, params, { taskId, step }) };
  if (contextId !== undefined && contextId !== unpaidTask(waiting, wanted).contextId)
    throw invalidParam('message.contextId', 'is not the context of the task');
  const isOver = waiting.ended || (waiting.isPaid && step.kind !== 'submitted');
  // A payment may come at the same time: what was accepted first stands.
  if (isOver || (step.kind === 'rejected' && !(await giveUpUnpaid(ctx, taskId, 'rejected')))) throw takesNone();
  if (step.kind === 'rejected') {
    return { kind: 'unpaid', task: unpaidTask({ ...waiting, ended: 'rejected' }, wanted) };
  }
  const payment = step.kind === 'submitted' ? paymentFor(waiting, step.payload) : null;
  const { body, quoteId, messageKey } = waiting;
  const asked = { body: body as PayableCall['body'], quoteId: quoteId ?? undefined, messageKey, waiting };
  return buy(ctx, call, asked, { ...way, payment, params });
}

async function buy(
  ctx: HttpContext,
  call: A2aCall,
  asked: PayableCall,
  { payment, params, ...way }: Way & { readonly payment: TaskPayment | null; readonly params: SendMessage },
): Promise<Begun> {
  const { opened, agentId } = call;
  const { body, quoteId, messageKey } = asked;
  const shape = shapeOf(ctx, call, params.configuration ?? {});
  const resource = opened.caller.kind === 'anonymous' ? keylessResourceOf(agentId) : resourceOf(agentId, quoteId);
  const resourceUrl = ctx.baseUrl + resource;
  try {
    const started = await startPurchase(ctx, opened, {
      ...{ agentId, body, quoteId, ...payment, idempotencyKey: messageKey, waitingId: asked.waiting?.id },
      ...way,
    });
    const { first, settlement, isWithheld } = started;
    const contextId = contextOf({
      requestId: first.data.requestId,
      metadata: body.metadata as Record<string, unknown>,
    });
    const { messageId } = params.message;
    const { network, historyLength, filesOf } = shape;
    return {
      kind: 'started',
      started,
      shape: {
        ...{ contextId, messageId, text: body.task, settlement, network, historyLength, filesOf },
        withArtifacts: !isWithheld,
      },
      settledBy: () => settlementAtEnd(ctx, opened, started, resourceUrl),
    };
  } catch (error) {
    if (!(error instanceof PaymentRequiredError)) throw error;
    return { kind: 'unpaid', task: await awaitPayment(ctx, call, asked, { due: error, shape }) };
  }
}
