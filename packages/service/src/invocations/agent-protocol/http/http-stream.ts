import type { EventSourceMessage } from 'eventsource-parser';
import { isDeeperThan } from '../../../lib/json-depth.ts';
import type { Outcome } from '../../invocation.ts';
import { type ChunkRecorder, MAX_CHUNK_BYTES, MAX_CHUNKS, type Said } from '../../stream/record-chunks.ts';
import { describeError, failed, MAX_RESULT_BYTES, parseObject, readResult } from '../agent-answer.ts';
import { messagesOf } from '../event-messages.ts';

/**
 * Follows a streaming agent: stores `progress` and `chunk` events as they come; `result` or `error` ends it. A stream that ends without
 * either is an invalid answer; anything after the end is ignored.
 */
export async function followStream(bytes: AsyncIterable<Buffer>, recorder: ChunkRecorder): Promise<Outcome> {
  let count = 0;
  for await (const { messages, isTooLarge } of messagesOf(bytes, 1024)) {
    count += messages.length;
    const { said, outcome } = read(messages);
    if (said.length > 0 && !(await recorder.add(said)))
      return failed('agent_error', 'Another process has taken the request over.');
    if (outcome) return outcome;
    if (count > MAX_CHUNKS) return failed('response_too_large', `The agent streamed more than ${MAX_CHUNKS} events.`);
    if (isTooLarge) return resultTooLarge;
  }
  return failed('invalid_response', 'The agent ended its stream without a result.');
}

const resultTooLarge = failed('response_too_large', 'The agent streamed an event of more than 1 MiB.');

const MAX_CHUNK_DEPTH = 128;

/** The chunks up to the end, and the outcome; null: the stream continues. */
function read(messages: readonly EventSourceMessage[]): { said: Said[]; outcome: Outcome | null } {
  const said: Said[] = [];
  for (const message of messages) {
    const outcome = endOf(message);
    if (outcome) return { said, outcome };
    const { event, data } = message;
    if (event === 'chunk') said.push({ type: 'invocation.chunk', data: parse(data) });
    if (event === 'progress') said.push({ type: 'invocation.status', data: parse(data) });
  }
  return { said, outcome: null };
}

function endOf({ event, data }: EventSourceMessage): Outcome | null {
  const bytes = Buffer.byteLength(data);
  if (bytes > MAX_RESULT_BYTES) return resultTooLarge;
  if (event === 'result') return readResult(parseObject(data));
  if (event === 'error') {
    const value = parseObject(data);
    return failed('agent_error', `The agent failed${describeError(value?.error ?? value)}.`);
  }
  if (event !== 'chunk' && event !== 'progress') return null;
  if (bytes > MAX_CHUNK_BYTES) return failed('response_too_large', 'The agent streamed an event of more than 64 KiB.');
  return isDeeperThan(parse(data), MAX_CHUNK_DEPTH)
    ? failed('invalid_response', `The agent streamed an event nested deeper than ${MAX_CHUNK_DEPTH} levels.`)
    : null;
}

/** Parses JSON; any other text is the chunk itself, because chunks are often plain text. */
function parse(data: string): unknown {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : { chunk: value };
  } catch {
    return { chunk: data };
  }
}
