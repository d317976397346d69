import type { StreamEventType } from '@agent-network/contracts/invocations';
import type { HasDb } from '../db/database.ts';
import type { HasProcessId } from '../queue/heartbeat.ts';
import type { HasChangeHub } from './change-hub.ts';
import { hasEnded, type Invocation } from './invocation.ts';
import { findInvocation } from './invocation-store.ts';
import { toCreated, toRecord } from './invocation-view.ts';
import { type Chunk, countChunks, readChunks } from './stream-store.ts';

export interface StreamEvent {
  /** 1, 2, 3 …: what `Last-Event-ID` takes. */
  readonly id: number;
  readonly type: StreamEventType;
  readonly data: unknown;
}

export type StreamContext = HasDb & HasChangeHub & HasProcessId;

/** Created and processing come before what the agent says. */
const FIRST_CHUNK_ID = 3;
const PAGE = 200;
/** A request that runs here is heard of at once; one that runs elsewhere is asked about. */
const ASK_HERE_MS = 5000;
const ASK_ELSEWHERE_MS = 300;

/**
 * The events of a request after the given id, until it has ended. They follow from what is stored, so any process can tell them
 * from any point on, and each reader gets every event once; the last is the only terminal one.
 */
export async function* readStream(
  ctx: StreamContext,
  requestId: string,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent> {
  const watch = ctx.changeHub.watch(requestId);
  try {
    let last = after;
    while (!signal.aborted) {
      const invocation = await findInvocation(ctx.db, requestId);
      if (!invocation) return;
      // Chunks are read after the state: what is seen as ended has all of its chunks stored.
      const chunks = await readChunks(ctx.db, requestId, Math.max(0, last - FIRST_CHUNK_ID + 1), PAGE);
      for (const event of eventsAfter(invocation, chunks, last)) {
        yield event;
        last = event.id;
        if (signal.aborted) return;
      }
      if (chunks.length === PAGE) continue;
      if (hasEnded(invocation.status)) {
        const end = await endOf(ctx, invocation);
        if (end.id > last) yield end;
        return;
      }
      const isHere = invocation.worker === ctx.processId();
      await watch.next(isHere ? ASK_HERE_MS : ASK_ELSEWHERE_MS, signal);
    }
  } finally {
    watch.close();
  }
}

function* eventsAfter(invocation: Invocation, chunks: readonly Chunk[], last: number): Generator<StreamEvent> {
  if (last < 1) yield { id: 1, type: 'invocation.created', data: toCreated({ ...invocation, status: 'pending' }) };
  if (last < 2 && invocation.startedAt) {
    const data = { requestId: invocation.id, status: 'processing', at: invocation.startedAt.toISOString() };
    yield { id: 2, type: 'invocation.status', data };
  }
  for (const { position, type, data } of chunks) {
    yield { id: FIRST_CHUNK_ID - 1 + position, type, data: { ...asObject(data), requestId: invocation.id } };
  }
}

const asObject = (data: unknown): object => (typeof data === 'object' && data !== null ? data : { value: data });

const terminal = {
  completed: 'invocation.completed',
  failed: 'invocation.failed',
  cancelled: 'invocation.cancelled',
} as const;

/** Its id comes after everything that was said; a request that never began has no second event, but its number. */
async function endOf(ctx: HasDb, invocation: Invocation): Promise<StreamEvent> {
  const id = FIRST_CHUNK_ID + (await countChunks(ctx.db, invocation.id));
  return { id, type: terminal[invocation.status as keyof typeof terminal], data: toRecord(invocation) };
}
