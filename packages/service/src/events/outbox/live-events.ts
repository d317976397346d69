import type { EventType } from '@agent-network/contracts/events';
import type { AccountCaller } from '../../accounts/caller.ts';
import { livingKeys } from '../../accounts/keys/revocations.ts';
import { AppError } from '../../lib/app-error.ts';
import { createPoller } from '../../lib/concurrency/poller.ts';
import type { PreparedJson } from '../../lib/json/prepared-json.ts';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import type { Store } from '../../store/database.ts';
import { findDecided, findLastDecided } from './live-store.ts';
import { readEvents } from './read-events.ts';
import type { Subjects } from './subjects.ts';

export interface LiveEvent {
  /** Value for `Last-Event-ID`. */
  readonly id: number;
  readonly type: 'stream.open' | EventType;
  readonly data: { readonly after: number } | PreparedJson;
}

export interface LiveQuery {
  /** null: from now on. */
  readonly after: number | null;
  readonly type: EventType | null;
}

type Follower = Pick<AccountCaller, 'accountId' | 'keyId'>;

/** Streams events to accounts as they happen. */
export interface LiveEvents {
  /**
   * Takes a stream slot when called and returns the generator; the slot is free again when the signal aborts. Each event after `after` is
   * sent once, in order, when no open transaction may still write an earlier one. Ends within a second after the key was revoked or has
   * expired. The call throws RATE_LIMITED when the account has `MAX_STREAMS` open in this process.
   */
  open(caller: Follower, query: LiveQuery): (signal: AbortSignal) => AsyncGenerator<LiveEvent>;
}

/** The sequence from which a stream gets all changes from now on. */
export const eventsAt = (ctx: Store): Promise<number> => findDecided(ctx.db);

export const MAX_STREAMS = 16;
const RETRY_AFTER_S = 10;
/** Poll interval for all streams of the process: one query over the accounts, and one over the keys. */
const LOOK_MS = 250;
const PAGE = 50;

interface Stream extends Follower {
  /** The last decided event of the account. */
  last: number;
  isOver: boolean;
  wake(): void;
}

type LiveContext = Store & Telemetry & Subjects;

export function createLiveEvents(ctx: LiveContext): LiveEvents {
  const streams = new Set<Stream>();
  const poller = createPoller({
    intervalMs: LOOK_MS,
    poll: () => look(ctx, streams),
    hasWaiters: () => streams.size > 0,
    onError: (err) => ctx.log.debug({ err }, 'polling of live events failed'),
  });

  return {
    open(caller, query) {
      return (signal) => {
        const own = [...streams].filter(({ accountId }) => accountId === caller.accountId);
        if (own.length >= MAX_STREAMS) throw tooMany();
        const stream = { accountId: caller.accountId, keyId: caller.keyId, last: 0, isOver: false, wake: () => {} };
        streams.add(stream);
        signal.addEventListener('abort', () => {
          streams.delete(stream);
          stream.isOver = true;
          stream.wake();
        });
        poller.start();
        return tell(ctx, stream, query);
      };
    },
  };
}

const tooMany = () =>
  new AppError('RATE_LIMITED', `The account has ${MAX_STREAMS} streams open; close one first.`, {
    details: { limit: MAX_STREAMS, type: 'streams', retryAfterS: RETRY_AFTER_S },
  });

/** Wakes the streams of accounts with new events, and ends those with a key that is no longer valid. */
async function look(ctx: LiveContext, streams: ReadonlySet<Stream>): Promise<void> {
  const watched = [...streams];
  if (watched.length === 0) return;
  const of = (pick: (stream: Stream) => string) => [...new Set(watched.map(pick))];
  const [living, last] = await Promise.all([
    livingKeys(
      ctx,
      of(({ keyId }) => keyId),
    ),
    findLastDecided(
      ctx.db,
      of(({ accountId }) => accountId),
    ),
  ]);
  for (const stream of watched) {
    const known = last.get(stream.accountId) ?? 0;
    const isNew = known > stream.last;
    stream.last = Math.max(stream.last, known);
    stream.isOver ||= !living.has(stream.keyId);
    if (isNew || stream.isOver) stream.wake();
  }
}

/**
 * Position at which a stream begins. If no event of its type waits, it begins after all events, since removing older ones would look like a
 * gap later.
 */
async function positionOf(ctx: LiveContext, stream: Stream, { after, type }: LiveQuery): Promise<number> {
  if (after === null) return eventsAt(ctx);
  if (type === null) return after;
  const { events, next } = await readEvents(ctx, stream, { after, type, limit: 1 });
  return events.length === 0 ? next : after;
}

async function* tell(ctx: LiveContext, stream: Stream, query: LiveQuery): AsyncGenerator<LiveEvent> {
  let after = await positionOf(ctx, stream, query);
  yield { id: after, type: 'stream.open', data: { after } };
  for (;;) {
    // Taken before the read, so that events that commit during it are read next time.
    const until = stream.last;
    for (let hasMore = until > after; hasMore && !stream.isOver; ) {
      const page = await readEvents(ctx, stream, { after, type: query.type ?? undefined, limit: PAGE });
      for (const event of page.events) {
        if (stream.isOver) return;
        yield { id: event.sequence, type: event.type, data: event.json };
      }
      after = page.next;
      hasMore = page.hasMore;
    }
    if (stream.isOver) return;
    after = Math.max(after, until);
    await new Promise<void>((resolve) => {
      stream.wake = resolve;
      if (stream.isOver || stream.last > until) resolve();
    });
  }
}
