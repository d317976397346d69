import type { LRUCache } from 'lru-cache';
import type { HasChain } from '../../../chain/chain-info.ts';
import { channelDigestsOf } from '../../../chain/channels/channel-digests.ts';
import { signerOf } from '../../../chain/signatures/authorization.ts';
import type { HasDb } from '../../../db/database.ts';
import { createBoundedCache } from '../../../lib/bounded-cache.ts';
import { createBatcher } from '../../../lib/concurrency/batcher.ts';
import { createMutex, type Mutex } from '../../../lib/concurrency/mutex.ts';
import type { ShownVoucher } from '../payment-header.ts';
import type { Channel } from './channel.ts';
import { findChannels, sumOwed } from './channel-store.ts';
import { endTurns, type TurnWish, takeTurns } from './channel-turn-store.ts';
import { type ChannelTurns, createChannelTurns, type TurnStore } from './channel-turns.ts';
import type { Computed } from './judge-voucher.ts';
import { type EarlierPurchase, findLastPurchase, findPurchases, type PurchaseSince } from './purchase-store.ts';

/** Reads and checks of the channel of a call. */
export interface Channels {
  /** The id and the signer that a voucher has, whatever it says of itself. */
  compute(voucher: ShownVoucher['voucher']): Computed;
  /** One query for concurrent readers; null: the node does not know the channel. */
  read(channelId: string): Promise<Channel | null>;
  /** The purchase that a request was, whichever scheme paid for it. */
  findPurchase(requestId: string): Promise<EarlierPurchase | null>;
  /** The request of an account's latest purchase of exactly this, whichever scheme paid for it; null: none since then. */
  findLast(purchase: PurchaseSince): Promise<string | null>;
  /** Sum that all channels of a wallet owe by ended calls and those in flight, and that is not claimed. */
  owedBy(payer: string): Promise<bigint>;
  readonly turns: ChannelTurns;
  readonly deposits: Mutex;
  /** Looks at the chain, one by one for each channel, and the channels that were read just now. */
  readonly looks: Mutex;
  readonly seen: LRUCache<string, true>;
}

export interface HasChannels {
  readonly channels: Channels;
}

const MAX_FOUND = 200;
const MAX_SEEN = 10_000;
/** A channel that was read is taken to be as it was for so long: a withdrawal that begins meanwhile has its whole delay before it. */
const SEEN_MS = 5000;

/** One query for the turns that concurrent calls take or end; a channel is in a batch once. */
function createTurnStore({ db }: HasDb): TurnStore {
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

export function createChannels(ctx: HasDb & HasChain): Channels {
  const digests = channelDigestsOf(ctx.chain.chainId);
  const reader = createBatcher<string, Channel | null>({
    maxSize: MAX_FOUND,
    async run(ids) {
      const found = await findChannels(ctx.db, [...new Set(ids)]);
      return ids.map((id) => found.get(id) ?? null);
    },
  });
  const purchases = createBatcher<string, EarlierPurchase | null>({
    maxSize: MAX_FOUND,
    async run(ids) {
      const found = await findPurchases(ctx.db, [...new Set(ids)]);
      return ids.map((id) => found.find(({ requestId }) => requestId === id) ?? null);
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
    compute({ config, channelId, maxMicro, signature }) {
      const computed = digests.channelIdOf(config);
      // A voucher for another id is not hashed: that may be no id at all.
      if (computed !== channelId) return { channelId: computed, signer: null };
      return { channelId: computed, signer: signerOf(digests.voucherDigest(computed, maxMicro), signature) };
    },
    read: (channelId) => reader.add(channelId),
    findPurchase: (requestId) => purchases.add(requestId),
    findLast: (purchase) => findLastPurchase(ctx.db, purchase),
    turns: createChannelTurns(createTurnStore(ctx)),
    owedBy: (payer) => owed.add(payer),
    deposits: createMutex(),
    looks: createMutex(),
    seen: createBoundedCache<true>(MAX_SEEN, SEEN_MS),
  };
}
