import { isObject, parseObject } from '../../../agents/upstream/upstream-client.ts';
import { GuardedFetchError } from '../../../lib/net/guarded-fetch-error.ts';
import type { Outcome } from '../../invocation.ts';
import { type ChunkRecorder, MAX_CHUNK_BYTES, MAX_CHUNKS, type Said } from '../../stream/record-chunks.ts';
import { CallFailedError } from '../adapter.ts';
import { completed, describeError, MAX_RESULT_BYTES } from '../agent-answer.ts';
import { messagesOf } from '../event-messages.ts';
import { type A2aSaid, type A2aTask, partsOf, readSaid, resultOf, textsOf } from './a2a-wire.ts';

/** State of a task, as far as its stream has told. */
export interface Streamed {
  readonly task: A2aTask | null;
  /** The agent answered with a message and made no task. */
  readonly outcome: Outcome | null;
}

/**
 * Follows a stream until its task rests or the stream ends: texts of artifacts are stored as chunks, changes of state as events. A stream
 * that breaks off has ended if its task can be asked for. `onTask` is told the id of the task once.
 */
export async function followA2aStream(
  bytes: AsyncIterable<Buffer>,
  recorder: ChunkRecorder,
  onTask: (taskId: string) => Promise<void>,
): Promise<Streamed> {
  let task: A2aTask | null = null;
  let count = 0;
  let size = 0;
  const isNamed = () => task !== null && task.id !== '';
  for await (const { messages, isTooLarge } of messagesOf(untilBrokenOff(bytes, isNamed), 4096)) {
    const chunks: Said[] = [];
    for (const { data } of messages) {
      const said = saidIn(data);
      if (said.kind === 'message') return { task, outcome: completed(resultOf(said.parts)) };
      const isFirst: boolean = task === null;
      task = told(task, said);
      if (isFirst && task.id !== '') await onTask(task.id);
      chunks.push(...chunksOf(said));
      size += Buffer.byteLength(data);
    }
    count += chunks.length;
    requireBounds(isTooLarge || count > MAX_CHUNKS || size > 4 * MAX_RESULT_BYTES || chunks.some(isTooLong));
    if (chunks.length > 0 && !(await recorder.add(chunks)))
      throw new CallFailedError('agent_error', 'Another process has taken the request over.');
    if (task && !isOpen(task)) return { task, outcome: null };
  }
  return { task, outcome: null };
}

async function* untilBrokenOff(bytes: AsyncIterable<Buffer>, isEnd: () => boolean): AsyncGenerator<Buffer> {
  try {
    yield* bytes;
  } catch (error) {
    if (!(error instanceof GuardedFetchError && error.kind === 'reset' && isEnd())) throw error;
  }
}

function saidIn(data: string): A2aSaid {
  const value = parseObject(data);
  if (isObject(value?.error))
    throw new CallFailedError('agent_error', `The agent failed${describeError(value.error)}.`);
  const said = readSaid(value?.result);
  if (said !== null) return said;
  throw new CallFailedError('invalid_response', 'The agent streamed an event that A2A does not have.');
}

function requireBounds(isTooMuch: boolean): void {
  if (isTooMuch) throw new CallFailedError('response_too_large', 'The agent streamed too much.');
}

const isOpen = ({ state }: A2aTask) => state === 'submitted' || state === 'working';

const isTooLong = ({ data }: Said) => Buffer.byteLength(JSON.stringify(data)) > MAX_CHUNK_BYTES;

/** The task after what was said of it. */
function told(task: A2aTask | null, said: Exclude<A2aSaid, { kind: 'message' }>): A2aTask {
  if (said.kind === 'task') return said.task;
  const known: A2aTask = task ?? { id: said.taskId, contextId: null, state: 'working', message: null, artifacts: [] };
  if (said.kind === 'status') return { ...known, state: said.state, message: said.message };
  const { artifactId } = said.artifact;
  const same = known.artifacts.find((each) => each.artifactId === artifactId);
  const others = known.artifacts.filter((each) => each !== same);
  const parts = said.isAppended && same ? [...partsOf(same), ...partsOf(said.artifact)] : partsOf(said.artifact);
  return { ...known, artifacts: [...others, { ...said.artifact, parts }] };
}

function chunksOf(said: A2aSaid): Said[] {
  if (said.kind === 'artifact')
    return textsOf(partsOf(said.artifact)).map((chunk) => ({ type: 'invocation.chunk', data: { chunk } }));
  if (said.kind !== 'status' || said.state !== 'working') return [];
  const message = textsOf(partsOf(said.message)).join(' ').slice(0, 2000);
  return message === '' ? [] : [{ type: 'invocation.status', data: { message } }];
}
