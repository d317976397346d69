import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import { readStream, type StreamEvent } from '../../../invocations/stream/read-stream.ts';
import { encodeJson } from '../../../lib/json/prepared-json.ts';
import type { HttpContext } from '../../request/http-context.ts';
import { textOf } from '../common/text-of.ts';
import { chatChunk, lastChatChunks, outputMessage, outputText, responseOf } from './answers.ts';
import { cutOff, failedRequest } from './errors.ts';

/** A request whose answer is streamed. */
export interface StreamedRequest {
  readonly requestId: string;
  readonly agentId: string;
  readonly createdAt: string;
  readonly promptChars: number;
  readonly includesUsage: boolean;
  readonly previousId: string | null;
  /** True when the request was bought before: the stream only reads. */
  readonly isRead: boolean;
  /** Says that the client gets no whole answer: the same call of its account finds this purchase. */
  readonly lose: () => void;
}

const isEnd = ({ type }: StreamEvent) =>
  type === 'invocation.completed' || type === 'invocation.failed' || type === 'invocation.cancelled';

const recordOf = ({ data }: StreamEvent): RequestRecord => JSON.parse(encodeJson(data).toString());

/** The text of a piece of the answer; null: the event is none. */
function deltaOf({ type, data }: StreamEvent): string | null {
  if (type !== 'invocation.chunk') return null;
  const { requestId: _, ...fields } = data as Readonly<Record<string, unknown>>;
  return textOf(fields.chunk ?? fields.value ?? fields);
}

const dataLine = (data: unknown) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;

/** The stream of a chat completion: chunks, the end, `[DONE]`; a failure, and the end of the key, end it without. */
export async function* chatStream(
  ctx: HttpContext,
  streamed: StreamedRequest,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const { requestId, promptChars, includesUsage } = streamed;
  let hasText = false;
  yield dataLine(chatChunk(streamed, { role: 'assistant', content: '' }));
  for await (const event of readStream(ctx, requestId, 0, signal)) {
    const delta = deltaOf(event);
    if (delta !== null) {
      hasText = true;
      yield dataLine(chatChunk(streamed, { content: delta }));
    }
    if (!isEnd(event)) continue;
    const record = recordOf(event);
    if (record.status !== 'completed') {
      yield dataLine(failedRequest(record).body);
      return;
    }
    if (!hasText) yield dataLine(chatChunk(streamed, { content: textOf(record.result) }));
    for (const chunk of lastChatChunks(record, promptChars, includesUsage)) yield dataLine(chunk);
    yield dataLine('[DONE]');
    return;
  }
  if (!signal.aborted) return;
  streamed.lose();
  yield dataLine({ error: cutOff(requestId) });
}

/** The stream of a response: its events, numbered from 0, to `response.completed`, `response.failed`, or `error` at the end of the key. */
export async function* responseStream(
  ctx: HttpContext,
  streamed: StreamedRequest,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const { requestId, promptChars, previousId } = streamed;
  let sequence = 0;
  let text = '';
  const send = (type: string, fields: object) =>
    `event: ${type}\n${dataLine({ type, sequence_number: sequence++, ...fields })}`;
  const open = responseOf({ ...streamed, status: 'processing' }, promptChars, previousId);
  const place = { item_id: `msg_${requestId}`, output_index: 0, content_index: 0 };
  yield send('response.created', { response: open });
  yield send('response.in_progress', { response: open });
  yield send('response.output_item.added', { output_index: 0, item: outputMessage(requestId, null) });
  yield send('response.content_part.added', { ...place, part: outputText('') });
  for await (const event of readStream(ctx, requestId, 0, signal)) {
    const delta = deltaOf(event);
    if (delta !== null) {
      text += delta;
      yield send('response.output_text.delta', { ...place, delta, logprobs: [] });
    }
    if (!isEnd(event)) continue;
    const record = recordOf(event);
    const response = responseOf(record, promptChars, previousId);
    if (record.status !== 'completed') {
      yield send('response.failed', {
        response: { ...response, status: 'failed', error: failedRequest(record).body.error },
      });
      return;
    }
    const whole = text === '' ? textOf(record.result) : text;
    if (text === '') yield send('response.output_text.delta', { ...place, delta: whole, logprobs: [] });
    yield send('response.output_text.done', { ...place, text: whole, logprobs: [] });
    yield send('response.content_part.done', { ...place, part: outputText(whole) });
    yield send('response.output_item.done', { output_index: 0, item: outputMessage(requestId, whole) });
    yield send('response.completed', { response });
    return;
  }
  if (!signal.aborted) return;
  streamed.lose();
  const { code, message, param } = cutOff(requestId);
  yield send('error', { code, message, param });
}
