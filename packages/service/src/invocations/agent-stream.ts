import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { isDeeperThan } from '../lib/json-depth.ts';
import { describeError, failed, MAX_RESULT_BYTES, parseObject, readResult } from './agent-answer.ts';
import type { Outcome } from './invocation.ts';
import { type ChunkRecorder, MAX_CHUNK_BYTES, MAX_CHUNKS } from './record-chunks.ts';

/**
 * Follows a streaming agent: `progress` and `chunk` events are stored as they come, `result` or `error` ends it. A stream that
 * ends without either is an invalid answer; what comes after the end is not read.
 */
export async function followStream(bytes: AsyncIterable<Buffer>, recorder: ChunkRecorder): Promise<Outcome> {
  const messages: EventSourceMessage[] = [];
  let isTooLarge = false;
  const parser = createParser({
    onEvent: (message) => void messages.push(message),
    onError: ({ type }) => {
      isTooLarge ||= type === 'max-buffer-size-exceeded';
    },
    // With room for the framing of a result that is as large as it may be.
    maxBufferSize: MAX_RESULT_BYTES + 1024,
  });
  const decoder = new TextDecoder();
  let count = 0;
  for await (const part of bytes) {
    parser.feed(decoder.decode(part, { stream: true }));
    for (const message of messages.splice(0)) {
      const outcome = await take(message, recorder);
      if (outcome) return outcome;
      count += 1;
      if (count > MAX_CHUNKS) return failed('response_too_large', `The agent streamed more than ${MAX_CHUNKS} events.`);
    }
    if (isTooLarge) return resultTooLarge;
  }
  return failed('invalid_response', 'The agent ended its stream without a result.');
}

const resultTooLarge = failed('response_too_large', 'The agent streamed an event of more than 1 MiB.');

const MAX_CHUNK_DEPTH = 128;

/** null: the stream goes on. */
async function take({ event, data }: EventSourceMessage, recorder: ChunkRecorder): Promise<Outcome | null> {
  if (Buffer.byteLength(data) > MAX_RESULT_BYTES) return resultTooLarge;
  if (event === 'result') return readResult(parseObject(data));
  if (event === 'error') {
    const value = parseObject(data);
    return failed('agent_error', `The agent failed${describeError(value?.error ?? value)}.`);
  }
  if (event !== 'chunk' && event !== 'progress') return null;
  if (Buffer.byteLength(data) > MAX_CHUNK_BYTES)
    return failed('response_too_large', 'The agent streamed an event of more than 64 KiB.');
  const type = event === 'chunk' ? 'invocation.chunk' : 'invocation.status';
  const value = parse(data);
  if (isDeeperThan(value, MAX_CHUNK_DEPTH))
    return failed('invalid_response', `The agent streamed an event nested deeper than ${MAX_CHUNK_DEPTH} levels.`);
  const isOurs = await recorder.add(type, value);
  return isOurs ? null : failed('agent_error', 'Another process has taken the request over.');
}

/** Chunks are often plain text. */
function parse(data: string): unknown {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : { chunk: value };
  } catch {
    return { chunk: data };
  }
}
