import type { StreamEventType } from '@agent-network/contracts/invocations/stream-event-types';
import type { Store } from '../../store/database.ts';
import type { CallServices } from '../call-services.ts';
import { hasEnded, isAtRest, isWithheld } from '../invocation.ts';
import { toCreated, toRecord } from '../invocation-view.ts';
import type { InvocationRecord, InvocationState } from '../record-store.ts';
import { type Chunk, countChunks } from './stream-store.ts';

export interface StreamEvent {
  /** 1, 2, 3 …: the values of `Last-Event-ID`. */
  readonly id: number;
  readonly type: StreamEventType;
  readonly data: unknown;
}

/** `created` and `processing` precede the agent's chunks. */
const FIRST_CHUNK_ID = 3;
/** Poll interval behind the hub and the stream poller, in case both miss a change. */
const ASK_AGAIN_MS = 60_000;

/** True if a reader who has the events up to this one has the last of a request that has ended, or the question that waits. */
export async function hasWhole(ctx: Store, invocation: InvocationState, last: number): Promise<boolean> {
  const { id, status, inputTimeoutS } = invocation;
  if (!isAtRest(status) || last < FIRST_CHUNK_ID) return false;
  if (isWithheld(invocation) && inputTimeoutS === null) return last >= endIdOf(0);
  const chunks = await countChunks(ctx.db, [id], isWithheld(invocation) ? [id] : []);
  const count = chunks.get(id) ?? 0;
  return last >= (hasEnded(status) ? endIdOf(count) : eventIdOf(count));
}

/** A reader's position. */
interface Told {
  last: number;
}

/**
 * Events of a request after the given id, until it has ended or waits for an answer. They derive from stored rows, so any process can send them from any position,
 * and each reader gets every event once; the last is the only terminal one. A reader that has caught up gets chunks without a query.
 */
export async function* readStream(
  ctx: CallServices,
  requestId: string,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent> {
  const watch = ctx.changeHub.watch(requestId);
  const following = ctx.streamPoller.follow(requestId);
  const told = { last: after };
  try {
    while (!signal.aborted) {
      // Chunks until now are stored and read from there.
      watch.takeSaid();
      if (yield* tellStored(ctx, requestId, told)) return;
      while ((await watch.next(ASK_AGAIN_MS, signal)) && !signal.aborted) {
        const next = nextOf(watch.takeSaid(), told.last);
        if (!next) break;
        yield* tell(
          told,
          next.map((chunk) => chunkEvent(requestId, chunk)),
        );
      }
    }
  } finally {
    following.stop();
    watch.close();
  }
}

function* tell(told: Told, events: Iterable<StreamEvent>): Generator<StreamEvent> {
  for (const event of events) {
    if (event.id <= told.last) continue;
    yield event;
    told.last = event.id;
  }
}

/** Sends the stored events after the last one sent. Returns true when the stream is complete. */
async function* tellStored(ctx: CallServices, requestId: string, told: Told): AsyncGenerator<StreamEvent, boolean> {
  for (;;) {
    const sight = await ctx.streamPoller.look({ requestId, after: Math.max(0, told.last - FIRST_CHUNK_ID + 1) });
    if (!sight) return true;
    const { invocation, chunks, isWhole, end } = sight;
    yield* tell(told, firstEvents(invocation));
    const events = chunks.map((chunk) => chunkEvent(requestId, chunk));
    yield* tell(told, end ? [...events, endOf(end.record, end.count)] : events);
    if (isWhole) return end !== null || invocation.status === 'input_required';
  }
}

/** The chunks, if they follow the last event without a gap. */
function nextOf(said: readonly Chunk[] | null, last: number): readonly Chunk[] | null {
  const fresh = said?.filter(({ position }) => eventIdOf(position) > last) ?? null;
  return fresh?.[0] && eventIdOf(fresh[0].position) !== last + 1 ? null : fresh;
}

/** Id of the event of a stored chunk or question. */
export const eventIdOf = (position: number): number => FIRST_CHUNK_ID - 1 + position;

function* firstEvents(invocation: InvocationState): Generator<StreamEvent> {
  yield { id: 1, type: 'invocation.created', data: toCreated({ ...invocation, status: 'pending' }) };
  if (!invocation.startedAt) return;
  const data = { requestId: invocation.id, status: 'processing', at: invocation.startedAt.toISOString() };
  yield { id: 2, type: 'invocation.status', data };
}

const chunkEvent = (requestId: string, { position, type, data }: Chunk): StreamEvent => ({
  id: eventIdOf(position),
  type,
  data: { ...asObject(data), requestId },
});

const asObject = (data: unknown): object => (typeof data === 'object' && data !== null ? data : { value: data });

const terminal = {
  completed: 'invocation.completed',
  failed: 'invocation.failed',
  cancelled: 'invocation.cancelled',
} as const;

/** Id of the end event, which follows all chunks. A request that never began lacks the event before them; its number stays unused. */
const endIdOf = (count: number): number => FIRST_CHUNK_ID + count;

const endOf = (invocation: InvocationRecord, count: number): StreamEvent => ({
  id: endIdOf(count),
  type: terminal[invocation.status as keyof typeof terminal],
  data: toRecord(invocation),
});
