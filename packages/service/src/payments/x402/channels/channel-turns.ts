import { createMutex } from '../../../lib/concurrency/mutex.ts';
import type { TurnWish } from './channel-turn-store.ts';

type Wish = Omit<TurnWish, 'lengthMs'>;

/**
 * Takes turns at correcting the payers of a channel. Parallel calls on one channel are all signed for the same sum, and one of them is
 * right: the others are told the new sum one after another, each as soon as the call of the one before was admitted. Told together, they
 * would all sign the next sum, and again one of them would be right. The turn is in the channel's row, so it holds in all processes: a
 * call, and the call that answers its correction, may come to different ones. Those that wait in this process are in a line of their own.
 */
export interface ChannelTurns {
  /** Resolves to true when it is this request's turn; to false after `MAX_WAIT_MS`, and when too many wait. */
  take(channelId: string, requestId: string): Promise<boolean>;
  /** Ends the turn of a request, if it has it: its answer was refused. */
  end(channelId: string, requestId: string): Promise<void>;
  /** Notes that a request was admitted, which ends its turn in the same transaction. */
  admitted(channelId: string, requestId: string): void;
}

export interface TurnStore {
  /** True if the turn was free, or is this request's; it ends by itself after `lengthMs`. */
  take(wish: TurnWish): Promise<boolean>;
  end(turn: Wish): Promise<void>;
}

/** A turn without an answer ends after this at least: clients on a busy machine need a while to sign. */
const MIN_TURN_MS = 5_000;
const MAX_TURN_MS = 10_000;
/** Turns last several times what answers have taken lately. */
const PATIENCE = 8;
const MAX_WAIT_MS = 25_000;
/** More calls than this do not wait on one channel: they are told at once. */
const MAX_WAITING = 256;
/** Interval at which the first of a line checks whether the turn of another process has ended. */
const FIRST_LOOK_MS = 10;
const MAX_LOOK_MS = 100;
/** Answers that are awaited here; those that come to other processes are forgotten. */
const MAX_AWAITED = 10_000;

export function createChannelTurns(store: TurnStore): ChannelTurns {
  const order = createMutex();
  const waiting = new Map<string, number>();
  const wakers = new Map<string, () => void>();
  const toldAtMs = new Map<string, number>();
  let usualMs = 0;
  const lengthMs = () => Math.round(Math.min(MAX_TURN_MS, Math.max(MIN_TURN_MS, PATIENCE * usualMs)));
  const wake = (channelId: string) => wakers.get(channelId)?.();

  const pause = (channelId: string, ms: number) =>
    new Promise<void>((resolve) => {
      const awake = () => {
        clearTimeout(timer);
        wakers.delete(channelId);
        resolve();
      };
      const timer = setTimeout(awake, ms);
      wakers.set(channelId, awake);
    });

  async function insist(wish: Wish, endMs: number): Promise<boolean> {
    for (let lookMs = FIRST_LOOK_MS; ; lookMs = Math.min(2 * lookMs, MAX_LOOK_MS)) {
      if (await store.take({ ...wish, lengthMs: lengthMs() })) return true;
      if (performance.now() >= endMs) return false;
      await pause(wish.channelId, lookMs);
    }
  }

  return {
    async take(channelId, requestId) {
      const before = waiting.get(channelId) ?? 0;
      if (before >= MAX_WAITING) return false;
      waiting.set(channelId, before + 1);
      const endMs = performance.now() + MAX_WAIT_MS;
      const leave = await order.acquire(channelId);
      try {
        const isInTurn = await insist({ channelId, requestId }, endMs);
        if (toldAtMs.size >= MAX_AWAITED) toldAtMs.clear();
        if (isInTurn) toldAtMs.set(requestId, performance.now());
        return isInTurn;
      } finally {
        leave();
        const left = (waiting.get(channelId) ?? 1) - 1;
        if (left > 0) waiting.set(channelId, left);
        else waiting.delete(channelId);
      }
    },
    async end(channelId, requestId) {
      toldAtMs.delete(requestId);
      await store.end({ channelId, requestId });
      wake(channelId);
    },
    admitted(channelId, requestId) {
      const startedMs = toldAtMs.get(requestId);
      toldAtMs.delete(requestId);
      if (startedMs !== undefined) usualMs = 0.8 * usualMs + 0.2 * (performance.now() - startedMs);
      wake(channelId);
    },
  };
}
