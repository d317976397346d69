import { isObject, type Json, parseObject } from '../../../lib/json/json-object.ts';
import { errorIn } from '../../../lib/net/error-text.ts';
import { GuardedFetchError } from '../../../lib/net/guarded-fetch-error.ts';
import type { Outcome } from '../../invocation.ts';
import { PROGRESS_EXTENSION, readProgressData } from '../../stream/progress.ts';
import { type ChunkRecorder, MAX_CHUNK_BYTES, MAX_CHUNKS, type Said } from '../../stream/record-chunks.ts';
import { claimOfAgent } from '../../usage/usage-claim.ts';
import { CallFailedError } from '../adapter.ts';
import { completed, describeError, MAX_RESULT_BYTES } from '../agent-answer.ts';
import type { AnswerMedia } from '../answer-media.ts';
import { messagesOf } from '../exchange.ts';
import { type A2aSaid, type A2aTask, hasRested, partsOf, readSaid, resultOfMessage, textsOf } from './a2a-wire.ts';

/** State of a task, as known from its stream. */
export interface StreamedTask {
  readonly task: A2aTask | null;
  /** The agent answered with a message and made no task. */
  readonly outcome: Outcome | null;
}

interface StreamReading {
  resultIn?(event: Json | undefined): unknown;
  /** True for a task that the stream need not be followed any more for. */
  isRested?(task: A2aTask): boolean;
  readonly media?: AnswerMedia;
}

/**
 * Follows a stream until its task rests or the stream ends. Stores texts of artifacts as chunks and changes of state as events; other parts
 * count like chunks. A stream that breaks off counts as ended if its task can be polled. Calls `onTask` once with the id of the task.
 */
export async function followA2aStream(
  bytes: AsyncIterable<Buffer>,
  recorder: ChunkRecorder,
  onTask: (taskId: string) => Promise<void>,
  { resultIn = (event) => event?.result, isRested = hasRested, media }: StreamReading = {},
): Promise<StreamedTask> {
  const told = createTold();
  const meter = createMeter(resultIn);
  const isNamed = () => (told.base()?.id ?? '') !== '';
  for await (const { messages, isTooLarge } of messagesOf(untilBrokenOff(bytes, isNamed), 4096, media)) {
    const chunks: Said[] = [];
    for (const said of messages.flatMap(({ data }) => meter.read(data))) {
      if (said.kind === 'message')
        return { task: told.task(), outcome: completed(resultOfMessage(said.parts), claimOfAgent(said.usage)) };
      const isFirst = told.base() === null;
      const { id } = told.take(said);
      if (isFirst && id !== '') await onTask(id);
      for (const chunk of chunksOf(said)) chunks.push(chunk);
    }
    requireBounds(isTooLarge || meter.isTooMuch() || chunks.some(isTooLong) || recorder.isTooMuch());
    if (chunks.length > 0 && !(await recorder.add(chunks)))
      throw new CallFailedError('agent_error', 'Another process has taken the request over.');
    const base = told.base();
    if (base && isRested(base)) break;
  }
  return { task: told.task(), outcome: null };
}

/** Reads the content of events, and counts events of any kind and the parts in them. */
function createMeter(resultIn: (event: Json | undefined) => unknown) {
  let count = 0;
  let size = 0;
  return {
    read(data: string): A2aSaid[] {
      const said = saidIn(data, resultIn);
      count += said ? countOf(said) : 1;
      size += Buffer.byteLength(data);
      return said ? [said] : [];
    },
    isTooMuch: () => count > MAX_CHUNKS || size > 4 * MAX_RESULT_BYTES,
  };
}

async function* untilBrokenOff(bytes: AsyncIterable<Buffer>, isEnd: () => boolean): AsyncGenerator<Buffer> {
  try {
    yield* bytes;
  } catch (error) {
    if (!(error instanceof GuardedFetchError && error.kind === 'reset' && isEnd())) throw error;
  }
}

/** The content of an event; null: an unknown kind, which a later version of A2A may have. */
function saidIn(data: string, resultIn: (event: Json | undefined) => unknown): A2aSaid | null {
  const value = parseObject(data);
  if (isObject(value?.error))
    throw new CallFailedError('agent_error', `The agent failed${describeError(errorIn(value))}.`);
  const result = resultIn(value);
  if (isObject(result)) return readSaid(result);
  throw new CallFailedError('invalid_response', 'The agent streamed an event that A2A does not have.');
}

function requireBounds(isTooMuch: boolean): void {
  if (isTooMuch) throw new CallFailedError('response_too_large', 'The agent streamed too much.');
}

const isTooLong = ({ data }: Said) => Buffer.byteLength(JSON.stringify(data)) > MAX_CHUNK_BYTES;

interface Piece {
  artifact: Json;
  parts: Json[];
}

/** Collects the state of a task from its stream. Parts are appended in place: they may come by the thousand, one in each event. */
function createTold() {
  let base: A2aTask | null = null;
  let pieces: Piece[] = [];
  let byId = new Map<unknown, Piece>();
  const add = (artifact: Json) => {
    const piece = { artifact, parts: partsOf(artifact) };
    pieces.push(piece);
    if (!byId.has(artifact.artifactId)) byId.set(artifact.artifactId, piece);
  };

  function take(said: Exclude<A2aSaid, { kind: 'message' }>): A2aTask {
    if (said.kind === 'task') {
      pieces = [];
      byId = new Map();
      for (const artifact of said.task.artifacts) add(artifact);
      base = { ...said.task, artifacts: [] };
      return base;
    }
    base ??= {
      ...{ id: said.taskId, contextId: null, state: 'working', message: null, at: '' },
      ...{ artifacts: [], messageIds: [], usage: null },
    };
    if (said.kind === 'status')
      base = { ...base, state: said.state, message: said.message, at: said.at, usage: said.usage ?? base.usage };
    else takeArtifact(said);
    return base;
  }

  function takeArtifact({ artifact, isAppended }: Extract<A2aSaid, { kind: 'artifact' }>): void {
    const same = byId.get(artifact.artifactId);
    if (!same) {
      add(artifact);
      return;
    }
    same.artifact = artifact;
    if (!isAppended) same.parts = [];
    for (const part of partsOf(artifact)) same.parts.push(part);
  }

  return {
    take,
    /** The task without its artifacts. */
    base: () => base,
    task: (): A2aTask | null =>
      base && { ...base, artifacts: pieces.map(({ artifact, parts }) => ({ ...artifact, parts })) },
  };
}

/** Number of chunks in an event; parts without text count, too. */
const countOf = (said: A2aSaid): number =>
  said.kind === 'artifact' ? Math.max(1, partsOf(said.artifact).length) : chunksOf(said).length;

function chunksOf(said: A2aSaid): Said[] {
  if (said.kind === 'artifact')
    return textsOf(partsOf(said.artifact)).map((chunk) => ({ type: 'invocation.chunk', data: { chunk } }));
  if (said.kind !== 'status' || said.state !== 'working') return [];
  const message = textsOf(partsOf(said.message)).join(' ');
  const metadata = isObject(said.message?.metadata) ? said.message.metadata : {};
  const told = metadata[PROGRESS_EXTENSION];
  const { fraction } = isObject(told) ? told : {};
  const data = readProgressData({
    ...(message === '' ? {} : { message }),
    ...(fraction === undefined ? {} : { fraction }),
  });
  return Object.keys(data).length === 0 ? [] : [{ type: 'invocation.status', data }];
}
