import { type ChannelRecord, parseRecord, serializeRecord } from './channel-record.ts';
import { type ChannelConfig, channelIdOf, type Hex, randomBytes32, type SignedDeposit } from './channel-signatures.ts';
import type { ChannelStorage } from './channel-storage.ts';
import type { ChannelTerms } from './channel-terms.ts';

/** A payment to make: for a new call, or for the retry of one with a refused payment. */
export interface Attempt {
  readonly terms: ChannelTerms;
  readonly url: string;
  /** The sum from which the receiver counts, if known. */
  readonly baseMicro: bigint | null;
  readonly refusals: number;
  readonly hasAskedChain: boolean;
}

/** A call that was paid for and not answered yet. */
export interface CallInFlight {
  readonly url: string;
  readonly terms: ChannelTerms;
  readonly priceMicro: bigint;
  /** The deposit that goes with the voucher. */
  readonly deposit: SignedDeposit | null;
  /** Payments that were made for the same call before this one and refused. */
  readonly refusals: number;
  readonly hasAskedChain: boolean;
  /** Resolves when it was answered. */
  readonly done: Promise<void>;
  readonly end: () => void;
}

/** A channel as this process holds it: one step at a time changes its books. */
export interface BookedChannel {
  readonly key: string;
  record: ChannelRecord;
  readonly inFlight: Map<string, CallInFlight>;
  /** The receiver takes one call at a time. */
  isSerial: boolean;
  lastStep: Promise<unknown>;
}

export interface ChannelBooks {
  /** The channel of these terms at this place; a first one is opened in the books. */
  of(terms: ChannelTerms, url: string): Promise<BookedChannel>;
  all(): Promise<readonly BookedChannel[]>;
  /** Writes a record down before it is used. */
  keep(channel: BookedChannel, record: ChannelRecord): Promise<void>;
}

const noSalt: Hex = `0x${'00'.repeat(32)}`;

/** Runs steps of one channel one after the other. */
export function inTurn<T>(channel: BookedChannel, step: () => Promise<T>): Promise<T> {
  const done = channel.lastStep.then(step);
  channel.lastStep = done.catch(() => undefined);
  return done;
}

export const inFlightMicro = ({ inFlight }: BookedChannel): bigint =>
  [...inFlight.values()].reduce((sum, { priceMicro }) => sum + priceMicro, 0n);

/** Books without a past. `salt`: a channel of its own among those with the same terms. */
export function newRecord(payer: Hex, terms: ChannelTerms, url: string, salt: Hex): ChannelRecord {
  const config: ChannelConfig = { payer, payerAuthorizer: payer, ...terms.between, salt };
  return {
    network: terms.network,
    channelId: channelIdOf(config, terms.chainId),
    config,
    url,
    isKnown: false,
    balanceMicro: 0n,
    chargedMicro: 0n,
    boundMicro: 0n,
    signedMicro: 0n,
    deposit: null,
    depositEndsS: 0,
    refund: null,
  };
}

/** A new channel under the same terms. Its salt is new, so it must be empty. */
export const freshRecord = (payer: Hex, terms: ChannelTerms, url: string): ChannelRecord => ({
  ...newRecord(payer, terms, url, randomBytes32()),
  isKnown: true,
});

const booked = (key: string, record: ChannelRecord): BookedChannel => ({
  key,
  record,
  inFlight: new Map(),
  isSerial: false,
  lastStep: Promise.resolve(),
});

/**
 * The books of a payer: one channel for each server, network and token. A server that names another receiver does not get a
 * second one; one that is reached at two addresses has one.
 */
export function openBooks(storage: ChannelStorage, payer: Hex, salt: Hex = noSalt): ChannelBooks {
  const channels = new Map<string, Promise<BookedChannel>>();
  const load = async (key: string, first: () => ChannelRecord): Promise<BookedChannel> => {
    const text = await storage.get(key);
    if (text !== null) return booked(key, parseRecord(text));
    const record = first();
    const others = await all();
    return others.find((other) => other.record.channelId === record.channelId) ?? booked(key, record);
  };
  const hold = (key: string, first: () => ChannelRecord): Promise<BookedChannel> => {
    const held = channels.get(key) ?? load(key, first);
    channels.set(key, held);
    held.catch(() => channels.delete(key));
    return held;
  };
  const all = async (): Promise<readonly BookedChannel[]> => {
    const keys = (await storage.keys()).filter((key) => key.startsWith(`${payer.toLowerCase()} `));
    const none = () => {
      throw new TypeError('the storage lost a channel');
    };
    return Promise.all(keys.map((key) => hold(key, none)));
  };
  return {
    of(terms, url) {
      const { origin } = new URL(url);
      const key = [payer, origin, terms.network, terms.between.token, salt].join(' ').toLowerCase();
      return hold(key, () => newRecord(payer, terms, url, salt));
    },
    all,
    async keep(channel, record) {
      await storage.set(channel.key, serializeRecord(record));
      channel.record = record;
    },
  };
}
