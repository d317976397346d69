import { AppError } from '../../lib/app-error.ts';
import { createBoundedCache } from '../../lib/bounded-cache.ts';
import { createMeter } from '../../lib/concurrency/meter.ts';
import type { Store } from '../../store/database.ts';
import { PIECE_BYTES } from './large-body.ts';

/** Maximum bytes of unread answers, for one reader and in total; beyond them the next answer is refused. */
export const MAX_OF_READER_BYTES = 32 * 1024 * 1024;
const MAX_BYTES = 256 * 1024 * 1024;
/** Part of a minute's bytes that may be used at once. */
const BURST = 1 / 8;
/** Time for which an operation that gave a reader a large answer is expected to give it another. */
const LARGE_FOR_MS = 60_000;
const MAX_LARGE = 50_000;

/** The readers of an answer: its network address, and its account if it has one. An answer counts for each. */
export type Readers = readonly string[];

/**
 * Limits large answers: those that are unread, which are held in memory, and the bytes of a minute, read or not, as database and event loop
 * work for them.
 */
export interface AnswerRoom {
  /** Throws RATE_LIMITED, before there is work, when a reader has used up its bytes and this operation gave it large answers. */
  admit(readers: Readers, operation: string): void;
  /** Counts an answer; call the returned function once it was read. Throws RATE_LIMITED or UNAVAILABLE while too much is unread. */
  take(readers: Readers, operation: string, bytes: number): () => void;
  /** Counts bytes of a stream. It does not delay this stream, only the next one. */
  streamed(readers: Readers, operation: string, bytes: number): void;
}

export interface AnswerLimits extends Pick<Store, 'clock'> {
  /** Bytes of large answers and streams that one reader is sent in a minute, by each process. */
  readonly answerBytesPerMinute: number;
}

export function createAnswerRoom({ clock, answerBytesPerMinute: limit }: AnswerLimits): AnswerRoom {
  const meter = createMeter({ perS: limit / 60, burst: limit * BURST, maxOverdraft: limit });
  const large = createBoundedCache<number>(MAX_LARGE);
  const unread = createUnread();
  const nowMs = () => clock.now().getTime();
  const use = (readers: Readers, operation: string, bytes: number) => {
    const now = nowMs();
    for (const reader of readers) {
      meter.use(reader, bytes, now);
      large.set(`${reader} ${operation}`, now);
    }
  };
  return {
    admit(readers, operation) {
      const now = nowMs();
      for (const reader of readers) {
        const isLarge = now - (large.get(`${reader} ${operation}`) ?? -Infinity) < LARGE_FOR_MS;
        const waitMs = isLarge ? meter.waitMs(reader, 1, now) : 0;
        if (waitMs > 0) throw tooMany(limit, Math.ceil(waitMs / 1000));
      }
    },
    take(readers, operation, bytes) {
      if (bytes < PIECE_BYTES) return () => undefined;
      const taken = unread.add(readers, bytes);
      use(readers, operation, bytes);
      return taken;
    },
    streamed: use,
  };
}

/** Bytes of unread answers by reader. */
function createUnread() {
  const held = createHeldBytes();
  return {
    add(readers: Readers, bytes: number): () => void {
      for (const reader of readers) {
        const own = held.of(reader);
        if (own > 0 && own + bytes > MAX_OF_READER_BYTES) throw notTaken(MAX_OF_READER_BYTES);
      }
      if (held.all() > 0 && held.all() + bytes > MAX_BYTES)
        throw new AppError('UNAVAILABLE', 'The node is sending too many large answers; repeat the request later.');
      held.add(readers, bytes);
      return () => held.add(readers, -bytes);
    },
  };
}

const notTaken = (limit: number) =>
  new AppError('RATE_LIMITED', 'Too many bytes of earlier answers are unread: read them before you request more.', {
    details: { limit, type: 'answerBytes', retryAfterS: 1 },
  });

const tooMany = (limit: number, retryAfterS: number) =>
  new AppError('RATE_LIMITED', `The limit of ${limit} bytes of large answers and streams per minute is used up.`, {
    details: { limit, type: 'answerBytesPerMinute', retryAfterS },
  });

/** Bytes that are held in memory for others, by holder and in all. */
interface HeldBytes {
  of(holder: string): number;
  all(): number;
  /** Counts bytes for each holder; a negative number frees them. */
  add(holders: readonly string[], bytes: number): void;
}

export function createHeldBytes(): HeldBytes {
  const byHolder = new Map<string, number>();
  let all = 0;
  return {
    of: (holder) => byHolder.get(holder) ?? 0,
    all: () => all,
    add(holders, bytes) {
      all += bytes;
      for (const holder of holders) {
        const left = (byHolder.get(holder) ?? 0) + bytes;
        if (left > 0) byHolder.set(holder, left);
        else byHolder.delete(holder);
      }
    },
  };
}
