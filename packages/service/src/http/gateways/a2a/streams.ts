import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import type { InputRequest } from '@agent-network/contracts/invocations/turns';
import type { SettleResponse } from '@agent-network/contracts/payments/x402';
import { readUnowned } from '../../../calls/read-invocation.ts';
import { PROGRESS_EXTENSION, shownProgress } from '../../../calls/stream/progress.ts';
import { readStream, type StreamEvent } from '../../../calls/stream/read-stream.ts';
import { encodeJson } from '../../../lib/json/prepared-json.ts';
import type { HttpContext } from '../../request/http-context.ts';
import type { A2aStream } from './a2a-call.ts';
import {
  contextOf,
  partsOf,
  resultArtifact,
  statusMessage,
  type TaskRecord,
  type TaskShape,
  taskOf,
  taskStatus,
  usageMetadata,
} from './tasks.ts';
import type { StreamResponse } from './wire.ts';

/** A stream of one answer. */
export const once = <T extends object>(answer: T): A2aStream<T> => ({
  requestId: null,
  async *open() {
    yield answer;
  },
});

/** A stream as a binding writes its events. */
export const shownAs = <T>(stream: A2aStream<T>, show: (event: T) => object): A2aStream<object> => ({
  ...stream,
  async *open(signal) {
    for await (const event of stream.open(signal)) yield show(event);
  },
});

interface FollowedShape extends TaskShape {
  /** The last event that the client has seen; undefined: none. */
  readonly after?: number | undefined;
  /** Reads the settlement once the request has ended; undefined: it is not known here. */
  readonly settledBy?: (() => Promise<SettleResponse | null>) | undefined;
}

const recordOf = (data: unknown): RequestRecord => JSON.parse(encodeJson(data).toString());

/** The stream of a task: the task, the agent's output, its result, its end. */
export async function* followTask(
  ctx: HttpContext,
  first: TaskRecord,
  { settledBy, after = 0, ...shape }: FollowedShape,
  signal: AbortSignal,
): AsyncGenerator<StreamResponse> {
  const { requestId: taskId } = first;
  const place = { taskId, contextId: shape.contextId ?? contextOf(first) };
  yield { task: taskOf(first, shape) };
  let chunks = 0;
  // The output of each turn is an artifact of its own.
  let turn = after > 0 ? (first.turn ?? 1) : 1;
  let isWaiting = first.status === 'pending';
  for await (const event of readStream(ctx, taskId, after, signal)) {
    const chunk = chunkOf(event);
    if (chunk) {
      yield { artifactUpdate: { ...place, ...pieceOf(chunk, turn, chunks) } };
      chunks += 1;
    }
    // Those that follow the begin are what the agent tells of its progress: no states.
    if (event.type === 'invocation.status' && isWaiting) {
      isWaiting = false;
      const status = { state: 'TASK_STATE_WORKING', timestamp: String(fieldsOf(event).at) } as const;
      yield { statusUpdate: { ...place, status } };
    }
    const told = isWaiting ? null : progressOf(event, place);
    if (told) yield { statusUpdate: { ...place, status: told } };
    if (event.type === 'invocation.input_required') {
      const asked = await openQuestion(ctx, taskId, event);
      if (asked) return yield { statusUpdate: { ...place, status: taskStatus(asked, place.contextId, shape) } };
      turn += 1;
      chunks = 0;
    }
    if (ends.has(event.type)) yield* lastEvents(recordOf(event.data), place, { ...shape, settledBy });
  }
}

/** Progress with words or a fraction, as a message of a task that works; null: the event is none. */
function progressOf(
  event: StreamEvent,
  { taskId, contextId }: { readonly taskId: string; readonly contextId: string },
) {
  const progress =
    event.type === 'invocation.status' ? shownProgress({ data: event.data, at: new Date().toISOString() }) : null;
  if (!progress) return null;
  const { fraction, message = '', at } = progress;
  const metadata = fraction === undefined ? {} : { [PROGRESS_EXTENSION]: { fraction } };
  return {
    state: 'TASK_STATE_WORKING',
    message: statusMessage(taskId, contextId, message, metadata),
    timestamp: at,
  } as const;
}

/** A piece of the output of a turn, behind so many others. */
function pieceOf({ value }: { readonly value: unknown }, turn: number, before: number) {
  const name = turn === 1 ? 'stream' : `stream-${turn}`;
  const artifact = { artifactId: name, name, parts: partsOf(value) };
  return { artifact, ...(before > 0 ? { append: true as const } : {}) };
}

async function* lastEvents(
  record: RequestRecord,
  place: { readonly taskId: string; readonly contextId: string },
  { settledBy, ...shape }: FollowedShape,
): AsyncGenerator<StreamResponse> {
  if (record.status === 'completed')
    yield { artifactUpdate: { ...place, artifact: resultArtifact(record, shape), lastChunk: true } };
  const settlement = settledBy ? await settledBy() : shape.settlement;
  const status = taskStatus(record, place.contextId, { ...shape, settlement });
  yield { statusUpdate: { ...place, status, ...usageMetadata(record) } };
}

/** The request of a question that waits; null: the question is not open any more. */
async function openQuestion(ctx: HttpContext, taskId: string, event: StreamEvent): Promise<RequestRecord | null> {
  const record = await readUnowned(ctx, taskId);
  const { inputId } = fieldsOf(event).inputRequest as InputRequest;
  return record?.inputRequest?.inputId === inputId ? record : null;
}

const ends: ReadonlySet<string> = new Set(['invocation.completed', 'invocation.failed', 'invocation.cancelled']);

const fieldsOf = ({ data }: StreamEvent) => data as Readonly<Record<string, unknown>>;

/** A piece of the answer; null: the event is none. */
function chunkOf(event: StreamEvent): { readonly value: unknown } | null {
  if (event.type !== 'invocation.chunk') return null;
  const { requestId: _, ...fields } = fieldsOf(event);
  return { value: fields.chunk ?? fields.value ?? fields };
}
