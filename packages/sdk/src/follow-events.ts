import type { StoredEvent } from '@agent-network/contracts/webhooks';
import { NoAnswerError } from './api-error.ts';
import type { HttpRequest } from './build-request.ts';
import { openEvents, type ReadEvent } from './open-stream.ts';
import { retryDelayMs } from './retry-schedule.ts';
import { type SendOptions, unlessAway, withRepeats } from './send-request.ts';
import { wait } from './wait.ts';

/** Maximum consecutive connections, or attempts at one, without an event. */
const MAX_MISSES = 8;

interface Live {
  readonly id: number;
  /** null: the stream is open. */
  readonly event: StoredEvent | null;
}

const readLive: ReadEvent<Live> = ({ id, event, data }) => {
  const place = Number(id);
  if (!Number.isSafeInteger(place)) return null;
  return { id: place, event: event === 'stream.open' ? null : (JSON.parse(data) as StoredEvent) };
};

type OnOpen = (after: number) => void;

interface Progress {
  lastId: number | null;
  /** Consecutive connections without an event. */
  misses: number;
}

/** Passes on the new events of one connection, and records the progress. A broken connection is not an error here. */
async function* passOn(events: AsyncGenerator<Live>, progress: Progress, onOpen: OnOpen): AsyncGenerator<StoredEvent> {
  try {
    for await (const { id, event } of events) {
      const isNew = progress.lastId === null || id > progress.lastId;
      progress.misses = 0;
      if (isNew) progress.lastId = id;
      if (!event) onOpen(id);
      if (isNew && event) yield event;
    }
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error;
  }
}

/**
 * The events of a GET stream, each once and in order, while its reader continues. A connection that ends is resumed after the last event.
 * Throws `ApiError` when the key is no longer valid, and `NoAnswerError` when the node stays away.
 */
export async function* followEvents(
  request: HttpRequest,
  sending: SendOptions,
  onOpen: OnOpen = () => undefined,
): AsyncGenerator<StoredEvent> {
  const maxMisses = sending.maxRetries === 0 ? 0 : MAX_MISSES;
  const progress: Progress = { lastId: null, misses: 0 };
  for (;;) {
    const { lastId } = progress;
    const headers = lastId === null ? request.headers : { ...request.headers, 'last-event-id': String(lastId) };
    progress.misses += 1;
    const opening = withRepeats(sending, () => openEvents({ ...request, headers }, sending, readLive));
    const opened = await unlessAway(opening, lastId !== null && progress.misses <= maxMisses);
    if (opened && !('events' in opened)) throw new NoAnswerError('The node answered with something else than a stream');
    if (opened) yield* passOn(opened.events, progress, onOpen);
    if (progress.misses > maxMisses) throw new NoAnswerError('The stream of events broke off');
    await wait(retryDelayMs(progress.misses, undefined, Math.random) ?? 0, sending.signal);
  }
}
