import type { LRUCache } from 'lru-cache';
import { type ChannelDigests, channelDigestsOf } from '../../../chain/channels/channel-digests.ts';
import { signerOf } from '../../../chain/keys/authorization.ts';
import { createBoundedCache } from '../../../lib/bounded-cache.ts';
import { createBatcher } from '../../../lib/concurrency/batcher.ts';
import { createMutex, type Mutex } from '../../../lib/concurrency/mutex.ts';
import type { Store } from '../../../store/database.ts';
import type { Channel } from './channel.ts';
import type { PresentedVoucher } from './channel-on-wire.ts';
import { findChannels, sumOwed } from './channel-store.ts';
import { endTurns, type TurnWish, takeTurns } from './channel-turn-store.ts';
import type { Computed } from './judge-voucher.ts';
import { type EarlierPurchase, findLastPurchase, findPurchases, type PurchaseSince } from './purchase-store.ts';

/** Reads and checks the channel of a call, on any network, as a channel id belongs to one chain. */
export interface Channels {
  /** The id and the signer of a voucher on a chain, computed independently of the voucher's own claims. */
  compute(chainId: number, voucher: PresentedVoucher['voucher']): Computed;
  /** Reads a channel, with one query for concurrent readers; null: the node does not know it. */
  read(channelId: string): Promise<Channel | null>;
  /** The earlier purchase of a request, by any scheme. Reads the payer's debt in the same statement, for the `owedBy` that follows. */
  findPurchase(requestId: string, payer?: string): Promise<EarlierPurchase | null>;
  /** The request of an account's latest identical purchase, by any scheme; null: none since then. */
  findLast(purchase: PurchaseSince): Promise<string | null>;
  /** Sum that all channels of a wallet owe by ended calls and those in flight, and that is not claimed. */
  owedBy(payer: string): Promise<bigint>;
  readonly turns: ChannelTurns;
  readonly deposits: Mutex;
  /** Looks at the chain, one by one for each channel, and the channels that were read just now. */
  readonly looks: Mutex;
  readonly seen: LRUCache<string, true>;
  /** The paying wallets of channels that were read: these never change. */
  readonly payers: LRUCache<string, string>;
  /** The channels of requests that have ended just now, as the ends left them. */
  readonly afterEnds: LRUCache<string, Channel>;
}

const MAX_FOUND = 200;
const MAX_SEEN = 10_000;
const MAX_PAYERS = 50_000;
/** From the look for an earlier purchase of a call to the look at its payer. */
const OWED_MS = 100;
/** For the answers to callers that wait. */
const MAX_AFTER_ENDS = 1_000;
const AFTER_END_MS = 1_000;
/** Maximum age of a cached channel: a withdrawal that begins in that time still has its whole delay ahead. */
const SEEN_MS = 5000;

/** Batches the turns that concurrent calls take or end, one per channel in a batch. */
function createTurnStore({ db }: Store): TurnStore {
  const keyOf = ({ channelId }: { readonly channelId: string }) => channelId;
  const takes = createBatcher<TurnWish, boolean>({
    maxSize: MAX_FOUND,
    keyOf,
    async run(wishes) {
      const taken = await takeTurns(db, wishes);
      return wishes.map(({ channelId }) => taken.has(channelId));
    },
  });
  const ends = createBatcher<Omit<TurnWish, 'lengthMs'>, void>({
    maxSize: MAX_FOUND,
    keyOf,
    async run(turns) {
      await endTurns(db, turns);
      return turns.map(() => undefined);
    },
  });
  return { take: (wish) => takes.add(wish), end: (turn) => ends.add(turn) };
}

export function createChannels(ctx: Store): Channels {
  const digestsOfChain = new Map<number, ChannelDigests>();
  const digestsOf = (chainId: number) => {
    const digests = digestsOfChain.get(chainId) ?? channelDigestsOf(chainId);
    digestsOfChain.set(chainId, digests);
    return digests;
  };
  const payers = createBoundedCache<string>(MAX_PAYERS);
  const reader = createBatcher<string, Channel | null>({
    maxSize: MAX_FOUND,
    async run(ids) {
      const found = await findChannels(ctx.db, [...new Set(ids)]);
      for (const { id, payer } of found.values()) payers.set(id, payer);
      return ids.map((id) => found.get(id) ?? null);
    },
  });
  const owedJustNow = createBoundedCache<{ readonly micro: bigint }>(MAX_FOUND, OWED_MS);
  const purchases = createBatcher<{ requestId: string; payer: string | undefined }, EarlierPurchase | null>({
    maxSize: MAX_FOUND,
    async run(items) {
      const payers = [...new Set(items.flatMap(({ payer }) => payer ?? []))];
      const ids = [...new Set(items.map(({ requestId }) => requestId))];
      const found = await findPurchases(ctx.db, ids, payers);
      for (const payer of payers) owedJustNow.set(payer, { micro: found.owed.get(payer) ?? 0n });
      return items.map((item) => found.purchases.find(({ requestId }) => requestId === item.requestId) ?? null);
    },
  });
  const owed = createBatcher<string, bigint>({
    maxSize: MAX_FOUND,
    async run(payers) {
      const sums = await sumOwed(ctx.db, [...new Set(payers)]);
      return payers.map((payer) => sums.get(payer) ?? 0n);
    },
  });
  return {
    compute(chainId, { config, channelId, maxMicro, signature }) {
      const digests = digestsOf(chainId);
      const computed = digests.channelIdOf(config);
      // A voucher for another id is not hashed: that may be no id at all.
      if (computed !== channelId) return { channelId: computed, signer: null };
      return { channelId: computed, signer: signerOf(digests.voucherDigest(computed, maxMicro), signature) };
    },
    read: (channelId) => reader.add(channelId),
    findPurchase: (requestId, payer) => purchases.add({ requestId, payer }),
    findLast: (purchase) => findLastPurchase(ctx.db, purchase),
    turns: createChannelTurns(createTurnStore(ctx)),
    async owedBy(payer) {
      const known = owedJustNow.get(payer);
      // For one call: the next one reads what this one adds.
      owedJustNow.delete(payer);
      return known ? known.micro : owed.add(payer);
    },
    deposits: createMutex(),
    looks: createMutex(),
    seen: createBoundedCache<true>(MAX_SEEN, SEEN_MS),
    payers,
    afterEnds: createBoundedCache<Channel>(MAX_AFTER_ENDS, AFTER_END_MS),
  };
}

type Wish = Omit<TurnWish, 'lengthMs'>;

/**
 * Serializes corrections of a channel's payers. Parallel calls on one channel are all signed for the same sum, and one of them is right.
 * The others get the new sum one after another, each when the call before was admitted; if they got it together, they would all sign the
 * next sum, and one would be right again. The turn is in the channel's row, so it holds in all processes. Calls that wait in this process
 * have a queue of their own.
 */
interface ChannelTurns {
  /** Resolves to true when it is this request's turn; to false after `MAX_WAIT_MS`, and when too many wait. */
  take(channelId: string, requestId: string): Promise<boolean>;
  /** Ends the turn of a request, if it has it: its answer was refused. */
  end(channelId: string, requestId: string): Promise<void>;
  /** Notes that a request was admitted, which ends its turn in the same transaction. */
  admitted(channelId: string, requestId: string): void;
}

export interface TurnStore {
  /** Returns true if the turn was free or is this request's. It expires after `lengthMs`. */
  take(wish: TurnWish): Promise<boolean>;
  end(turn: Wish): Promise<void>;
}

/** A turn without an answer ends after this at least: clients on a busy machine need a while to sign. */
const MIN_TURN_MS = 5_000;
const MAX_TURN_MS = 10_000;
/** Factor between recent answer times and the length of a turn. */
const PATIENCE = 8;
const MAX_WAIT_MS = 25_000;
/** Maximum calls that wait on one channel; the node corrects further ones at once. */
const MAX_WAITING = 256;
/** Interval at which the first of a line checks whether the turn of another process has ended. */
const FIRST_LOOK_MS = 10;
const MAX_LOOK_MS = 100;
/** Maximum turns that this process measures; it drops those with an answer that reached another process. */
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
