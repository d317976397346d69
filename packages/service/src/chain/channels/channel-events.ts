import { type Hex, toEventSelector } from 'viem';
import { SETTLEMENT_CONTRACT } from './channel-calls.ts';
import type { ChannelConfig } from './channel-digests.ts';

/** An event that the settlement contract logged about a channel, or about the receiver of a sweep. Ids and addresses in lower case. */
export type ChannelEvent =
  | { readonly kind: 'deposited'; readonly channelId: string; readonly amountMicro: bigint }
  | { readonly kind: 'claimed'; readonly channelId: string; readonly amountMicro: bigint; readonly totalMicro: bigint }
  | { readonly kind: 'refunded'; readonly channelId: string; readonly amountMicro: bigint }
  | { readonly kind: 'withdraw requested'; readonly channelId: string; readonly amountMicro: bigint }
  | { readonly kind: 'withdrawn'; readonly channelId: string; readonly amountMicro: bigint }
  | { readonly kind: 'swept'; readonly receiver: string; readonly token: string; readonly amountMicro: bigint };

interface Log {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
}

const kindByTopic: ReadonlyMap<string, ChannelEvent['kind']> = new Map<Hex, ChannelEvent['kind']>([
  [toEventSelector('Deposited(bytes32,address,uint128,uint128)'), 'deposited'],
  [toEventSelector('Claimed(bytes32,address,uint128,uint128)'), 'claimed'],
  [toEventSelector('Refunded(bytes32,address,uint128)'), 'refunded'],
  [toEventSelector('WithdrawInitiated(bytes32,uint128,uint40)'), 'withdraw requested'],
  [toEventSelector('WithdrawFinalized(bytes32,address,uint128)'), 'withdrawn'],
  [toEventSelector('Settled(address,address,address,uint128)'), 'swept'],
]);

/** Decodes a log of the settlement contract by position; null for logs of others, and for events that change no sum. */
export function channelEventOf({ address, topics, data }: Log): ChannelEvent | null {
  const [topic = '', first = '', second = ''] = topics;
  const kind = address.toLowerCase() === SETTLEMENT_CONTRACT ? kindByTopic.get(topic) : undefined;
  if (kind === undefined) return null;
  const amountMicro = wordAt(data, 0);
  const channelId = first.toLowerCase();
  if (kind === 'swept') return { kind, receiver: addressIn(first), token: addressIn(second), amountMicro };
  if (kind === 'claimed') return { kind, channelId, amountMicro, totalMicro: wordAt(data, 1) };
  return { kind, channelId, amountMicro };
}

/** A channel that was opened: its first deposit logs this, too. */
export interface OpenedChannel {
  readonly id: string;
  readonly config: ChannelConfig;
}

/** Decodes a log of the event `ChannelCreated` by position. */
export function openedChannelOf({ topics, data }: Pick<Log, 'topics' | 'data'>): OpenedChannel {
  const address = (place: number) => addressIn(textAt(data, place));
  const config = {
    payer: address(0),
    payerAuthorizer: address(1),
    receiver: address(2),
    receiverAuthorizer: address(3),
    token: address(4),
    withdrawDelayS: Number(wordAt(data, 5)),
    salt: textAt(data, 6).toLowerCase(),
  };
  return { id: (topics[1] ?? '').toLowerCase(), config };
}

const textAt = (data: string, place: number): string => `0x${data.slice(2 + 64 * place, 66 + 64 * place)}`;
const wordAt = (data: string, place: number): bigint => BigInt(textAt(data, place));
const addressIn = (topic: string): string => `0x${topic.slice(-40).toLowerCase()}`;
