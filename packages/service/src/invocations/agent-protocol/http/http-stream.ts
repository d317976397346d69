import { isDeeperThan, MAX_LEVELS } from '../../../lib/json/json-limits.ts';
import { parseObject } from '../../../lib/json/json-object.ts';
import type { EventMessage } from '../../../lib/net/event-parser.ts';
import type { Outcome } from '../../invocation.ts';
import { type ChunkRecorder, MAX_CHUNK_BYTES, MAX_CHUNKS, type Said } from '../../stream/record-chunks.ts';
import { describeError, failed, MAX_RESULT_BYTES, readResult } from '../agent-answer.ts';
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
    if (count > MAX_CHUNKS || recorder.isTooMuch()) return streamTooLarge;
    if (isTooLarge) return resultTooLarge;
  }
  return failed('invalid_response', 'The agent ended its stream without a result.');
}

const streamTooLarge = failed('response_too_large', `The agent streamed more than ${MAX_CHUNKS} events or 16 MiB.`);
const resultTooLarge = failed('response_too_large', 'The agent streamed an event of more than 1 MiB.');

/** The chunks up to the end, and the outcome; null: the stream continues. */
function read(messages: readonly EventMessage[]): { said: Said[]; outcome: Outcome | null } {
  const said: Said[] = [];
  for (const message of messages) {
    const next = readOne(message);
    if (next && 'kind' in next) return { said, outcome: next };
    if (next) said.push(next);
  }
  return { said, outcome: null };
}

/** A chunk, or the end; null: an event without a meaning here. */
function readOne({ event = '', data }: EventMessage): Said | Outcome | null {
  const bytes = Buffer.byteLength(data);
  if (bytes > MAX_RESULT_BYTES) return resultTooLarge;
  if (event === 'result') return readResult(parseObject(data));
  if (event === 'error') {
    const value = parseObject(data);
    return failed('agent_error', `The agent failed${describeError(value?.error ?? value)}.`);
  }
  const type = typeOf.get(event);
  if (!type) return null;
  if (bytes > MAX_CHUNK_BYTES) return failed('response_too_large', 'The agent streamed an event of more than 64 KiB.');
  const value = parse(data);
  return isDeeperThan(value, MAX_LEVELS.result)
    ? failed('invalid_response', `The agent streamed an event nested deeper than ${MAX_LEVELS.result} levels.`)
    : { type, data: value };
}

const typeOf: ReadonlyMap<string, Said['type']> = new Map([
  ['chunk', 'invocation.chunk'],
  ['progress', 'invocation.status'],
]);

/** Parses JSON; any other text is the chunk itself, because chunks are often plain text. */
function parse(data: string): unknown {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : { chunk: value };
  } catch {
    return { chunk: data };
  }
}
