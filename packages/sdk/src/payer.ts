import { formatUsdc, parseUsdc } from '@agent-network/contracts/money';
import { x402Client } from '@x402/core/client';
import { encodePaymentSignatureHeader } from '@x402/core/http';
import type { PaymentRequirementsV2 } from '@x402/core/schemas';
import type { PaymentPayload, PaymentRequired } from '@x402/core/types';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { type LocalAccount, privateKeyToAccount } from 'viem/accounts';
import type { PaymentHeaders } from './api-error.ts';
import { type ChannelOptions, channelSide, type OpenChannel } from './channels/channel-payer.ts';
import type { PaidAnswer } from './channels/channel-payments.ts';
import type { ClosedChannel } from './channels/close-channels.ts';
import type { PayerSigner } from './payer-signer.ts';
import { PaymentRefusedError } from './payment-refused-error.ts';
import { chooseOffer, payableOffers, readTerms, type Terms } from './read-terms.ts';

/** USDC as its issuer deployed it, by CAIP-2 network: Base and Base Sepolia. */
const usdcContracts: Readonly<Record<string, string>> = {
  'eip155:8453': '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  'eip155:84532': '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
};

export interface Payer {
  readonly address: string;
  /** x402 schemes that it supports besides `exact`; every call asks for their terms (`X-Payment-Scheme`). */
  readonly schemes?: readonly string[];
  /**
   * Signs one payment for the terms of a 402 (the `PAYMENT-REQUIRED` header) from this URL, or throws `PaymentRefusedError`
   * unsigned.
   */
  pay(paymentRequiredHeader: string, url?: string): Promise<PaymentHeaders>;
  /**
   * Called with the answer to a payment; `null`: none came. Resolves to another payment to present for the same call if this one was
   * refused and another helps. Code that sends requests itself must report every answer, else calls on the same channel may wait for it.
   */
  answered?(payment: PaymentHeaders, answer: PaidAnswer | null): Promise<PaymentHeaders | null>;
}

/** A payer with channels of its own. */
export interface ChannelPayer extends Payer {
  /** The channels it knows. */
  channels(): Promise<readonly OpenChannel[]>;
  /**
   * Waits for the running calls and requests a refund of every channel from its receiver; resolves to the refunds. Throws `AggregateError`
   * when a channel was not refunded: `withdrawalOf` takes the money out without the receiver.
   */
  close(): Promise<readonly ClosedChannel[]>;
}

export type PayerOptions = {
  /** Maximum cost of one call, in USDC. */
  readonly maxPerCall: string;
  /**
   * Maximum sum in USDC of all that this payer signs, collected or not: a call beyond it throws `PaymentRefusedError` (`above_total`)
   * unsigned. A channel's deposit is at most this. Default: no maximum.
   */
  readonly maxTotal?: string;
  /** Networks to pay on and the token to pay with; default: USDC on Base and Base Sepolia. */
  readonly tokens?: Readonly<Record<string, string>>;
  /** Pay by channel where a node offers it: one deposit, then a signature a call. Default: every call is a transfer of its own. */
  readonly channels?: boolean | ChannelOptions;
} & (
  | { readonly account: LocalAccount }
  | { readonly privateKey: `0x${string}` }
  /** Asked once for each payment, after network, token, amount and validity were found good. */
  | { readonly signer: PayerSigner }
);

const noncePattern = /^0x[0-9a-f]{64}$/;

/** The nonce in the node's offer: bound to this account's purchase, so that others can't use a payment signed under it. */
const offeredNonce = ({ extra }: PaymentRequirementsV2): `0x${string}` | null =>
  typeof extra?.nonce === 'string' && noncePattern.test(extra.nonce) ? (extra.nonce as `0x${string}`) : null;

/** Overrides the scheme's random nonce. */
const signingUnder = (signer: PayerSigner, nonce: `0x${string}`): PayerSigner => ({
  address: signer.address,
  signTypedData: (typedData) => signer.signTypedData({ ...typedData, message: { ...typedData.message, nonce } }),
});

/** The payload with the nonce under which it was signed. */
const under = (nonce: `0x${string}`, signed: PaymentPayload): PaymentPayload => {
  const authorization = { ...(signed.payload.authorization as Record<string, unknown>), nonce };
  return { ...signed, payload: { ...signed.payload, authorization } };
};

function signerOf(options: PayerOptions): PayerSigner {
  if ('signer' in options) return options.signer;
  if ('account' in options) return options.account as PayerSigner;
  // The error of viem names no option.
  if (!/^0x[0-9a-fA-F]{64}$/.test(options.privateKey ?? ''))
    throw new TypeError('privateKey must be a string of 0x and 64 hexadecimal digits');
  return privateKeyToAccount(options.privateKey) as PayerSigner;
}

/** Counts what a payer signs against its maximum; a signature that fails counts for nothing. */
function createTotal(maxMicro: bigint | null) {
  let signedMicro = 0n;
  return async <T>(micro: bigint, sign: () => Promise<T>): Promise<T> => {
    if (maxMicro !== null && signedMicro + micro > maxMicro)
      throw new PaymentRefusedError(
        'above_total',
        `The call costs ${formatUsdc(micro)} USDC, and ${formatUsdc(maxMicro - signedMicro)} of maxTotal is left: nothing was paid`,
      );
    signedMicro += micro;
    return sign().catch((error: unknown) => {
      signedMicro -= micro;
      throw error;
    });
  };
}

/** A transfer authorized for this one call. */
async function payExactly(signer: PayerSigner, terms: Terms, offer: PaymentRequirementsV2): Promise<PaymentHeaders> {
  const network = offer.network as `${string}:${string}`;
  const nonce = offeredNonce(offer);
  const scheme = new ExactEvmScheme(nonce ? signingUnder(signer, nonce) : signer);
  const client = x402Client.fromConfig({ schemes: [{ network, client: scheme }], spendControls: false });
  const signed = await client.createPaymentPayload({ ...terms, accepts: [offer] } as PaymentRequired);
  return { 'payment-signature': encodePaymentSignatureHeader(nonce ? under(nonce, signed) : signed) };
}

/** Refusals of a channel after which a transfer may still pay the call, within its own limits. */
const limitsOfChannels: readonly unknown[] = ['deposit_above_cap', 'deposit_unsettled', 'other_channel_open'];

/**
 * Pays 402 answers in USDC (x402 v2): each call with an EIP-3009 authorization (scheme `exact`), or with `channels` by vouchers
 * of a payment channel where the node offers that (scheme `batch-settlement`). Network, token, amount and validity are checked
 * before anything is signed; nothing is signed above `maxPerCall`.
 */
export function createPayer(options: PayerOptions): ChannelPayer {
  const signer = signerOf(options);
  const { channels, maxTotal } = options;
  const totalMicro = maxTotal === undefined ? null : parseUsdc(maxTotal);
  const limits = { tokens: options.tokens ?? usdcContracts, capMicro: parseUsdc(options.maxPerCall), totalMicro };
  const within = createTotal(totalMicro);
  const byTransfer = (terms: Terms) => {
    const offer = chooseOffer(terms, 'exact', limits);
    return within(BigInt(offer.amount), () => payExactly(signer, terms, offer));
  };
  const side = channels ? channelSide(signer, limits, channels === true ? {} : channels) : null;
  const orByTransfer = <T>(paying: Promise<T>, termsOf: () => Terms): Promise<T | PaymentHeaders> =>
    paying.catch((error: unknown) => {
      const isLimit = error instanceof PaymentRefusedError && limitsOfChannels.includes(error.reason);
      const [offer] = isLimit ? payableOffers(termsOf(), 'exact', limits) : [];
      if (!offer) throw error;
      return byTransfer(termsOf());
    });
  return {
    address: signer.address,
    ...(side ? { schemes: ['batch-settlement'] } : {}),
    async pay(paymentRequiredHeader, url) {
      const terms = readTerms(paymentRequiredHeader, url);
      const byChannel = side?.termsOf(terms);
      if (!side || !byChannel) return byTransfer(terms);
      const paid = within(byChannel.priceMicro, () => side.pay(byChannel, url ?? terms.resource.url));
      return orByTransfer(paid, () => terms);
    },
    async answered(payment, answer) {
      if (!side) return null;
      return orByTransfer(side.answered(payment, answer), () => readTerms(answer?.paymentRequired ?? ''));
    },
    channels: async () => (await side?.channels()) ?? [],
    close: async () => (await side?.close()) ?? [],
  };
}
