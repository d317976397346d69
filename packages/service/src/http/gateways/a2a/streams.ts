import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import type { SettleResponse } from '@agent-network/contracts/payments/x402';
import { readStream, type StreamEvent } from '../../../calls/stream/read-stream.ts';
import { encodeJson } from '../../../lib/json/prepared-json.ts';
import type { HttpContext } from '../../request/http-context.ts';
import type { A2aStream } from './a2a-call.ts';
import {
  contextOf,
  partsOf,
  resultArtifact,
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
  /** Reads the settlement once the request has ended; undefined: it is not known here. */
  readonly settledBy?: () => Promise<SettleResponse | null>;
}

const recordOf = (data: unknown): RequestRecord => JSON.parse(encodeJson(data).toString());

/** The stream of a task: the task, the agent's output, its result, its end. */
export async function* followTask(
  ctx: HttpContext,
  first: TaskRecord,
  { settledBy, ...shape }: FollowedShape,
  signal: AbortSignal,
): AsyncGenerator<StreamResponse> {
  const { requestId: taskId } = first;
  const contextId = shape.contextId ?? contextOf(first);
  yield { task: taskOf(first, shape) };
  let chunks = 0;
  let isWaiting = first.status === 'pending';
  for await (const event of readStream(ctx, taskId, 0, signal)) {
    const chunk = chunkOf(event);
    if (chunk) {
      const artifact = { artifactId: 'stream', name: 'stream', parts: partsOf(chunk.value) };
      yield { artifactUpdate: { taskId, contextId, artifact, ...(chunks > 0 ? { append: true } : {}) } };
      chunks += 1;
    }
    // Those that follow the begin are what the agent tells of its progress: no states.
    if (event.type === 'invocation.status' && isWaiting) {
      isWaiting = false;
      const status = { state: 'TASK_STATE_WORKING', timestamp: String(fieldsOf(event).at) } as const;
      yield { statusUpdate: { taskId, contextId, status } };
    }
    if (!ends.has(event.type)) continue;
    const record = recordOf(event.data);
    if (record.status === 'completed')
      yield { artifactUpdate: { taskId, contextId, artifact: resultArtifact(record), lastChunk: true } };
    const settlement = settledBy ? await settledBy() : shape.settlement;
    const status = taskStatus(record, contextId, { ...shape, settlement });
    yield { statusUpdate: { taskId, contextId, status, ...usageMetadata(record) } };
  }
}

const ends: ReadonlySet<string> = new Set(['invocation.completed', 'invocation.failed', 'invocation.cancelled']);

const fieldsOf = ({ data }: StreamEvent) => data as Readonly<Record<string, unknown>>;

/** A piece of the answer; null: the event is none. */
function chunkOf(event: StreamEvent): { readonly value: unknown } | null {
  if (event.type !== 'invocation.chunk') return null;
  const { requestId: _, ...fields } = fieldsOf(event);
  return { value: fields.chunk ?? fields.value ?? fields };
}
