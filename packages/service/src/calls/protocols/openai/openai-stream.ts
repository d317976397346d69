import { isObject, type Json, parseObject } from '../../../lib/json/json-object.ts';
import type { EventMessage } from '../../../lib/net/event-parser.ts';
import type { Outcome } from '../../invocation.ts';
import { type ChunkRecorder, MAX_CHUNK_BYTES, MAX_CHUNKS } from '../../stream/record-chunks.ts';
import { tokensIn } from '../../usage/usage-claim.ts';
import { describeError, failed, MAX_RESULT_BYTES } from '../agent-answer.ts';
import { messagesOf } from '../exchange.ts';
import { createToolCallDeltas, type ToolCallDeltas, toResult } from './openai-result.ts';

/** Progress of the stream so far. */
interface Course {
  text: string;
  refusal: string;
  readonly tools: ToolCallDeltas;
  bytes: number;
  /** Texts that were not added yet. */
  deltas: string[];
  finishReason: unknown;
  usage: unknown;
  model: unknown;
  isOver: boolean;
}

/** Follows a streamed completion: stores its deltas as chunks, those that came together as one. */
export async function followCompletion(
  bytes: AsyncIterable<Buffer>,
  recorder: ChunkRecorder,
  isOffered: (tool: string) => boolean,
): Promise<Outcome> {
  const about = { finishReason: null, usage: null, model: null, isOver: false };
  const course: Course = { text: '', refusal: '', tools: createToolCallDeltas(), bytes: 0, deltas: [], ...about };
  const end = () => toResult({ ...course, toolCalls: course.tools.whole() }, isOffered);
  let count = 0;
  for await (const { messages, isTooLarge } of messagesOf(bytes, 1024)) {
    const failure = messages.map((message) => take(course, message)).find((each) => each !== null);
    if (failure) return failure;
    const chunks = joined(course.deltas.splice(0));
    if (isTooLarge || course.bytes > MAX_RESULT_BYTES || chunks.some(isTooLong))
      return failed('response_too_large', 'The agent streamed too much text.');
    if (chunks.length > 0) {
      course.text += chunks.join('');
      count += chunks.length;
      if (count > MAX_CHUNKS) return failed('response_too_large', `The agent streamed more than ${MAX_CHUNKS} events.`);
      if (!(await recorder.add(chunks.map((chunk) => ({ type: 'invocation.chunk', data: { chunk } })))))
        return failed('agent_error', 'Another process has taken the request over.');
    }
    if (course.isOver) return end();
  }
  // Some servers close the stream without the last line.
  if (course.finishReason !== null) return end();
  return failed('invalid_response', 'The agent ended its stream without an end of its answer.');
}

const isTooLong = (chunk: string) => Buffer.byteLength(chunk) > MAX_CHUNK_BYTES;

/** Deltas as few chunks: none is longer than a chunk may be, unless a delta is. */
function joined(deltas: readonly string[]): string[] {
  const chunks: string[] = [];
  let bytes = 0;
  for (const delta of deltas) {
    const more = Buffer.byteLength(delta);
    const isNew = chunks.length === 0 || bytes + more > MAX_CHUNK_BYTES;
    if (isNew) chunks.push(delta);
    else chunks[chunks.length - 1] += delta;
    bytes = isNew ? more : bytes + more;
  }
  return chunks;
}

/** Adds an event; returns the outcome if it is an error. */
function take(course: Course, { data }: EventMessage): Outcome | null {
  if (course.isOver) return null;
  if (data.trim() === '[DONE]') {
    course.isOver = true;
    return course.finishReason === null
      ? failed('invalid_response', 'The agent ended its stream without an end of its answer.')
      : null;
  }
  const value = parseObject(data);
  if (value === undefined) return failed('invalid_response', 'The agent streamed an event that is not a JSON object.');
  if (value.error != null) return failed('agent_error', `The agent failed${describeError(value.error)}.`);
  const choice = choiceOf(value);
  if (choice && isObject(choice.delta)) takeDelta(course, choice.delta);
  course.finishReason = choice?.finish_reason ?? course.finishReason;
  // The last one that counts anything: servers also send null, or an empty object, in each event.
  if (isObject(value.usage) && tokensIn(value.usage)) course.usage = value.usage;
  course.model = value.model ?? course.model;
  return null;
}

/** A refusal is shown as it comes, like other text. */
function takeDelta(course: Course, { content, refusal, tool_calls }: Json): void {
  if (typeof refusal === 'string') course.refusal += refusal;
  for (const text of [content, refusal]) {
    if (typeof text !== 'string' || text === '') continue;
    course.deltas.push(text);
    course.bytes += Buffer.byteLength(text);
  }
  course.bytes += course.tools.add(tool_calls);
}

function choiceOf({ choices }: Json): Json | undefined {
  const [choice] = Array.isArray(choices) ? choices : [];
  return isObject(choice) ? choice : undefined;
}
