import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import type { InputRequest } from '@agent-network/contracts/invocations/turns';
import type { ToolCall } from '../../../calls/protocols/openai/openai-result.ts';
import { readUnowned } from '../../../calls/read-invocation.ts';
import { readStream, type StreamEvent } from '../../../calls/stream/read-stream.ts';
import { encodeJson } from '../../../lib/json/prepared-json.ts';
import type { HttpContext } from '../../request/http-context.ts';
import { shownFilesOf } from '../common/gateway-files.ts';
import { textOf } from '../common/text-of.ts';
import {
  chatChunk,
  functionCall,
  isFailed,
  lastChatChunks,
  modelAnswerOf,
  outputMessage,
  outputText,
  responseOf,
  type WithFiles,
} from './answers.ts';
import { cutOff, failedRequest, responseFailure } from './errors.ts';
import { responseIdOf } from './questions.ts';

/** A request with a streamed answer. */
export interface StreamedRequest {
  readonly requestId: string;
  readonly agentId: string;
  readonly createdAt: string;
  readonly promptChars: number;
  readonly includesUsage: boolean;
  readonly previousId: string | null;
  /** True when the request was bought before: the stream only reads, and is marked as a repetition. */
  readonly isRepeated: boolean;
  /** Turn of the answer; undefined: the first. */
  readonly turn?: number | undefined;
  /** The last event that the client has; undefined: none. */
  readonly after?: number | undefined;
  /** Marks the answer as undelivered, so that the same call of its account finds this purchase. */
  readonly lose: () => void;
}

const isEnd = ({ type }: StreamEvent) =>
  type === 'invocation.completed' || type === 'invocation.failed' || type === 'invocation.cancelled';

/** The record that an answer ends with: at the end of the request, or at the question that it waits with; null: it goes on. */
async function lastRecord(
  ctx: HttpContext,
  requestId: string,
  event: StreamEvent,
): Promise<WithFiles<RequestRecord> | null> {
  if (isEnd(event)) return recordOf(ctx, event);
  if (event.type !== 'invocation.input_required') return null;
  const now = await readUnowned(ctx, requestId);
  const { inputRequest } = event.data as { readonly inputRequest: InputRequest };
  return now?.inputRequest?.inputId === inputRequest.inputId ? JSON.parse(encodeJson(now).toString()) : null;
}

function recordOf(ctx: HttpContext, { data }: StreamEvent): WithFiles<RequestRecord> {
  const record: RequestRecord = JSON.parse(encodeJson(data).toString());
  return { ...record, files: shownFilesOf(ctx, record) };
}

/** The text of a piece of the answer; null: the event is none. */
function deltaOf({ type, data }: StreamEvent): string | null {
  if (type !== 'invocation.chunk') return null;
  const { requestId: _, ...fields } = data as Readonly<Record<string, unknown>>;
  return textOf(fields.chunk ?? fields.value ?? fields);
}

type Send = (type: string, fields: object) => string;

/** The events of a tool that a response asks its caller to call. */
function* toolCallEvents(call: ToolCall, output_index: number, send: Send): Generator<string> {
  const item = functionCall(call);
  const place = { item_id: item.id, output_index };
  yield send('response.output_item.added', { output_index, item: { ...item, arguments: '', status: 'in_progress' } });
  yield send('response.function_call_arguments.delta', { ...place, delta: item.arguments });
  yield send('response.function_call_arguments.done', { ...place, name: item.name, arguments: item.arguments });
  yield send('response.output_item.done', { output_index, item });
}

const dataLine = (data: unknown) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;

/** The stream of a chat completion: chunks, the end, `[DONE]`; a failure, and the end of the key, end it without. */
export async function* chatStream(
  ctx: HttpContext,
  streamed: StreamedRequest,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const { requestId } = streamed;
  let hasText = false;
  yield dataLine(chatChunk(streamed, { role: 'assistant', content: '' }));
  for await (const event of readStream(ctx, requestId, streamed.after ?? 0, signal)) {
    const delta = deltaOf(event);
    if (delta !== null) {
      hasText = true;
      yield dataLine(chatChunk(streamed, { content: delta }));
    }
    const record = await lastRecord(ctx, requestId, event);
    if (!record) continue;
    if (isFailed(record)) {
      yield dataLine(failedRequest(record).body);
      return;
    }
    const { text, toolCalls } = modelAnswerOf(record);
    if (!hasText && (text !== '' || toolCalls.length === 0)) yield dataLine(chatChunk(streamed, { content: text }));
    for (const chunk of lastChatChunks(record, streamed)) yield dataLine(chunk);
    yield dataLine('[DONE]');
    return;
  }
  if (!signal.aborted) return;
  streamed.lose();
  yield dataLine({ error: cutOff(requestId) });
}

/** The stream of a response: its events, numbered from 0, to `response.completed`, `.incomplete` or `.failed`, or `error` at the end of the key. */
export async function* responseStream(
  ctx: HttpContext,
  streamed: StreamedRequest,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const { requestId } = streamed;
  let sequence = 0;
  let text = '';
  const send = (type: string, fields: object) =>
    `event: ${type}\n${dataLine({ type, sequence_number: sequence++, ...fields })}`;
  const open = responseOf({ ...streamed, status: 'processing' }, streamed);
  const id = responseIdOf(streamed);
  const place = { item_id: `msg_${id}`, output_index: 0, content_index: 0 };
  yield send('response.created', { response: open });
  yield send('response.in_progress', { response: open });
  yield send('response.output_item.added', { output_index: 0, item: outputMessage(id, null) });
  yield send('response.content_part.added', { ...place, part: outputText('') });
  for await (const event of readStream(ctx, requestId, streamed.after ?? 0, signal)) {
    const delta = deltaOf(event);
    if (delta !== null) {
      text += delta;
      yield send('response.output_text.delta', { ...place, delta, logprobs: [] });
    }
    const record = await lastRecord(ctx, requestId, event);
    if (!record) continue;
    const response = responseOf(record, streamed);
    if (isFailed(record)) {
      yield send('response.failed', { response: { ...response, status: 'failed', error: responseFailure(record) } });
      return;
    }
    const answer = modelAnswerOf(record);
    const whole = text === '' ? answer.text : text;
    if (text === '' && whole !== '') yield send('response.output_text.delta', { ...place, delta: whole, logprobs: [] });
    yield send('response.output_text.done', { ...place, text: whole, logprobs: [] });
    yield send('response.content_part.done', { ...place, part: outputText(whole) });
    yield send('response.output_item.done', { output_index: 0, item: outputMessage(id, whole) });
    for (const [index, call] of answer.toolCalls.entries()) yield* toolCallEvents(call, index + 1, send);
    // The message was begun before it was known that the answer has none.
    const output = [outputMessage(id, whole), ...answer.toolCalls.map(functionCall)];
    yield send(`response.${response.status}`, { response: { ...response, output } });
    return;
  }
  if (!signal.aborted) return;
  streamed.lose();
  const { code, message, param } = cutOff(requestId);
  yield send('error', { code, message, param });
}
