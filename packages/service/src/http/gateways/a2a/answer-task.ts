import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import type { InputAnswer, InputRequest } from '@agent-network/contracts/invocations/turns';
import { hasEnded } from '../../../calls/invocation.ts';
import { answerInput } from '../../../calls/turns/answer-question.ts';
import { questionEvent, readAnswers } from '../../../calls/turns/read-answers.ts';
import { AppError } from '../../../lib/app-error.ts';
import { isObject, type Json } from '../../../lib/json/json-object.ts';
import { answererOf } from '../../api/reader-of.ts';
import type { HttpContext } from '../../request/http-context.ts';
import { callEndpoint } from '../common/call-endpoint.ts';
import { answerOfText } from '../common/flat-input.ts';
import type { A2aCall } from './a2a-call.ts';
import { A2aError, invalidParam, taskNotFound } from './errors.ts';
import { inputOf } from './messages.ts';
import type { PaymentStep } from './payments.ts';
import { answerHeaders, findRecord } from './task-operations.ts';
import { contextOf, INPUT } from './tasks.ts';
import type { SendMessage } from './wire.ts';

/** A request with its question answered. */
export interface Answered {
  readonly record: RequestRecord;
  /** True for a message that answered before. */
  readonly isRepeated: boolean;
  /** The last event of the request before the answer. */
  readonly after: number;
}

/**
 * Has a message answer the question that its task waits for. The same message again is the same answer. Throws TASK_NOT_FOUND for the task
 * of another caller, and UNSUPPORTED_OPERATION when it does not wait for this answer.
 */
export async function answerTask(
  ctx: HttpContext,
  call: A2aCall,
  { message, metadata }: SendMessage,
  { taskId, step }: { readonly taskId: string; readonly step: PaymentStep },
): Promise<Answered> {
  const record = await findRecord(ctx, call, taskId);
  if (!record) throw taskNotFound();
  if (message.contextId !== undefined && message.contextId !== contextOf(record))
    throw invalidParam('message.contextId', 'is not the context of the task');
  if (step.kind !== 'none') throw takesNone();
  // Read behind the record: an answer from before it is among them.
  const given = await readAnswers(ctx, record);
  if (given.some(({ messageId }) => messageId === message.messageId)) return { record, isRepeated: true, after: 0 };
  const { inputRequest } = record;
  if (record.status !== 'input_required' || !inputRequest) throw hasEnded(record.status) ? takesNone() : notWaiting();
  const after = await questionEvent(ctx, taskId, inputRequest.inputId);
  const named = { ...metadata, ...message.metadata }[INPUT];
  const { data } = await callEndpoint(ctx, call.opened, 'answerInput', {
    params: { requestId: taskId },
    headers: answerHeaders(call),
    body: answerOf(message.parts, inputRequest, isObject(named) ? named.inputId : undefined),
    handler: async (_, { caller, params, headers, body }) => {
      const answerer = await answererOf(ctx, caller, { requestId: params.requestId, headers });
      return answerInput(ctx, answerer, params.requestId, body, message.messageId);
    },
  }).catch((error: unknown) => {
    if (error instanceof AppError && late.has(error.code)) throw new A2aError('UNSUPPORTED_OPERATION', error.message);
    throw error;
  });
  return { record: data, isRepeated: false, after };
}

/** Codes of answers to a question that is not open any more. */
const late: ReadonlySet<string> = new Set(['INPUT_ALREADY_ANSWERED', 'INPUT_NOT_REQUIRED', 'INPUT_EXPIRED']);

/** The error of a message for a task that has ended. */
export const takesNone = () =>
  new A2aError('UNSUPPORTED_OPERATION', 'The task does not accept further messages. Send one without taskId.');

const notWaiting = () => new A2aError('UNSUPPORTED_OPERATION', 'The task is working and waits for no message.');

const isDecline = (data: unknown): boolean =>
  isObject(data) && Object.keys(data).length === 1 && data.action === 'decline';

/** The answer in a message: its data is the input and its text a note; text alone is the only field, where that is a string. */
function answerOf(parts: SendMessage['message']['parts'], question: InputRequest, named: unknown): Json {
  const inputId = typeof named === 'string' ? named : question.inputId;
  const texts = parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
  const text = texts.length === 0 ? undefined : texts.join('\n');
  const note = text === undefined ? {} : { message: text };
  if (parts.some(({ data }) => isDecline(data))) return { inputId, action: 'decline', ...note };
  if (text !== undefined && texts.length === parts.length) return { inputId, ...answerOfText(question.schema, text) };
  return { inputId, action: 'accept', input: inputOf(parts), ...note } satisfies InputAnswer;
}
