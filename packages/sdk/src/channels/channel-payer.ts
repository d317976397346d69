import { formatUsdc, parseUsdc } from '@agent-network/contracts/money';
import type { PaymentHeaders } from '../api-error.ts';
import type { PayerSigner } from '../payer-signer.ts';
import { type PaymentLimits, payableOffers, readTerms, type Terms } from '../read-terms.ts';
import { openBooks } from './channel-books.ts';
import { channelPayments, type PaidAnswer } from './channel-payments.ts';
import { type ChannelRecord, larger } from './channel-record.ts';
import type { ChannelConfig } from './channel-signatures.ts';
import { type ChannelStorage, memoryStorage } from './channel-storage.ts';
import { type ChannelTerms, channelTermsOf } from './channel-terms.ts';
import type { ChannelWallet } from './channel-wallet.ts';
import { type ClosedChannel, closeChannels } from './close-channels.ts';
import { readChannel } from './read-channel.ts';

export interface ChannelOptions {
  /** Maximum deposit in USDC. Default: the node's suggestion, at most ten times `maxPerCall`. */
  readonly deposit?: string;
  /** Storage of the channels' books; default: in memory, for this run. */
  readonly storage?: ChannelStorage;
  /** A JSON-RPC URL of the chain, to find the state of a channel with lost books or an unreachable receiver. */
  readonly rpcUrl?: string;
  /** Distinguishes the channels of several payers with one wallet; each process needs its own. */
  readonly salt?: `0x${string}`;
  /** Used to ask for refunds and for `rpcUrl`. */
  readonly fetch?: typeof fetch;
}

/** A channel as the payer knows it. Amounts are USDC. */
export interface OpenChannel {
  readonly channelId: string;
  readonly network: string;
  /** URL of the last payment. */
  readonly url: string;
  readonly config: ChannelConfig;
  /** True if `balance` and `claimable` were read from the chain: false without `rpcUrl`, and where its RPC failed or is of another chain. */
  readonly isOnChain: boolean;
  /** Deposits less refunds, from the chain if `rpcUrl` is set. */
  readonly balance: string;
  /** Cost of its calls. */
  readonly charged: string;
  /** Amount that the receiver has claimed, if `rpcUrl` is set; else the maximum that it can claim by the signed vouchers. */
  readonly claimable: string;
}

/** The part of a payer that pays by channel. */
export interface ChannelSide {
  /** The offer of a 402 that can be paid by channel within the limits; `null`: none. */
  termsOf(terms: Terms): ChannelTerms | null;
  pay(terms: ChannelTerms, url: string): Promise<PaymentHeaders>;
  answered(payment: PaymentHeaders, answer: PaidAnswer | null): Promise<PaymentHeaders | null>;
  channels(): Promise<readonly OpenChannel[]>;
  close(): Promise<readonly ClosedChannel[]>;
}

const depositsInCalls = 10n;
const scheme = 'batch-settlement';

const smaller = (micro: bigint, most: bigint | null): bigint => (most !== null && most < micro ? most : micro);

function walletOf(signer: PayerSigner, limits: PaymentLimits, options: ChannelOptions): ChannelWallet {
  const depositMicro = options.deposit === undefined ? null : parseUsdc(options.deposit);
  const { rpcUrl } = options;
  const fetch: typeof globalThis.fetch = (...args) => (options.fetch ?? globalThis.fetch)(...args);
  return {
    signer,
    books: openBooks(options.storage ?? memoryStorage(), signer.address, options.salt),
    depositMicro,
    largestDepositMicro: smaller(depositMicro ?? depositsInCalls * limits.capMicro, limits.totalMicro),
    readChannel:
      rpcUrl === undefined ? null : (chainId, channelId) => readChannel({ url: rpcUrl, fetch }, chainId, channelId),
  };
}

/** A channel of the books, with its state on chain if that can be read: books of several chains have one RPC. */
async function openChannel({ readChannel }: ChannelWallet, record: ChannelRecord): Promise<OpenChannel> {
  const { channelId, network, url, config, balanceMicro, chargedMicro, boundMicro, signedMicro } = record;
  const asked = readChannel?.(Number(network.replace('eip155:', '')), channelId);
  const onChain = (await asked?.catch(() => null)) ?? null;
  return {
    ...{ channelId, network, url, config, isOnChain: onChain !== null },
    balance: formatUsdc(onChain?.balanceMicro ?? balanceMicro),
    charged: formatUsdc(chargedMicro),
    claimable: formatUsdc(onChain?.claimedMicro ?? larger(boundMicro, signedMicro)),
  };
}

/** Pays by payment channels within the limits of a payer. */
export function channelSide(signer: PayerSigner, limits: PaymentLimits, options: ChannelOptions): ChannelSide {
  const wallet = walletOf(signer, limits, options);
  const payments = channelPayments(wallet);
  const fetch: typeof globalThis.fetch = (...args) => (options.fetch ?? globalThis.fetch)(...args);
  const termsOf = (terms: Terms) => channelTermsOf(terms, payableOffers(terms, scheme, limits));
  const read = (header: string): Terms | null => {
    try {
      return readTerms(header);
    } catch {
      return null;
    }
  };
  return {
    termsOf,
    pay: payments.pay,
    answered: (payment, answer) =>
      payments.answered(payment, answer, (header) => {
        const terms = read(header);
        return terms && termsOf(terms);
      }),
    async channels() {
      const channels = await wallet.books.all();
      return Promise.all(channels.map(({ record }) => openChannel(wallet, record)));
    },
    close: () =>
      closeChannels(wallet, fetch, (header) => {
        const terms = read(header);
        const anyPrice = { ...limits, capMicro: 10n ** 30n };
        return (terms ? payableOffers(terms, scheme, anyPrice) : []).flatMap((offer) => {
          const readable = terms && channelTermsOf(terms, [offer]);
          return readable ? [readable] : [];
        });
      }),
  };
}
