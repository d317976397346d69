import {
  CHANNEL_SCHEME,
  type ChannelPayload,
  ChannelPayloadV2,
  type Eip3009Payload,
  PaymentPayloadV1,
  PaymentPayloadV2,
  type RequirementsV2,
} from '@agent-network/contracts/payments/x402';
import type { ChannelConfig } from '../../chain/channels/channel-digests.ts';
import { type Authorization, strictForm } from '../../chain/signatures/authorization.ts';
import { invalid } from '../../lib/app-error.ts';
import { problemText } from '../../lib/json/problem-text.ts';
import { decodePayment } from './decode-payment.ts';

/** A payment as shown by the client; both x402 versions in one form. */
export interface ShownPayment {
  readonly scheme: 'exact';
  /** The scheme that the client names: another one is refused with its code. */
  readonly namedScheme: string;
  readonly version: 1 | 2;
  readonly network: string;
  /** The offer that a v2 payment echoes; null for v1. */
  readonly accepted: RequirementsV2 | null;
  readonly authorization: Authorization;
  readonly signature: string;
  /** True if the signature came wrapped for a wallet that may not be deployed yet (ERC-6492). */
  readonly isWrapped?: boolean;
  /** The client's id of the purchase (x402 v2 extension `payment-identifier`); null when it sends none. */
  readonly identifier: string | null;
}

/** The voucher of a channel, in version 2: the scheme is `batch-settlement`. Addresses, hashes and signatures in lower case. */
export interface ShownVoucher {
  readonly version: 2;
  readonly scheme: typeof CHANNEL_SCHEME;
  readonly network: string;
  readonly accepted: RequirementsV2;
  readonly identifier: string | null;
  readonly type: string;
  readonly voucher: {
    readonly config: ChannelConfig;
    readonly channelId: string;
    readonly maxMicro: bigint;
    readonly signature: string;
  };
  /** The deposit that comes with the voucher; null: none. */
  readonly deposit: {
    readonly amountMicro: bigint;
    /** null: it is of another kind. */
    readonly authorization: {
      readonly validAfterS: bigint;
      readonly validBeforeS: bigint;
      readonly salt: string;
      readonly signature: string;
    } | null;
  } | null;
  /** Amount of a refund that is asked for; null: all. */
  readonly refundMicro: bigint | null;
}

/** Contents of a client's payment header: a closed union by scheme. */
export type Shown = ShownPayment | ShownVoucher;

export const isVoucher = (shown: Shown): shown is ShownVoucher => shown.scheme === CHANNEL_SCHEME;

/** The wallet that a payment says it is of: nothing proves that before it is checked. */
export const payingWallet = (shown: Shown): string =>
  isVoucher(shown) ? shown.voucher.config.payer : shown.authorization.from;

export interface PaymentHeaders {
  readonly 'payment-signature'?: string | undefined;
  readonly 'x-payment'?: string | undefined;
}

type HeaderName = 'PAYMENT-SIGNATURE' | 'X-PAYMENT';

/** A payment as decoded, and the header that it came in. */
interface Decoded {
  readonly name: HeaderName;
  readonly value: unknown;
}

/**
 * Reads the payment of a request; null without one. Both headers take both versions, and may hold the same payment. Throws VALIDATION_ERROR
 * (400) when it is malformed, or the headers hold two payments; `onMalformed` is called before, unless it was certainly no payload of a channel.
 */
export function readPaymentHeader(headers: PaymentHeaders, onMalformed?: () => void): Shown | null {
  const found = decodedIn(headers, onMalformed).map((decoded) => ({ ...decoded, shown: readAs(decoded, onMalformed) }));
  // The newer version echoes the offer that it is for.
  const [first, second] = found.sort((a, b) => b.shown.version - a.shown.version);
  if (!first) return null;
  if (second && !isSame(first.shown, second.shown))
    throw invalid(second.name, `holds another payment than ${first.name}: send one of them, or the same in both`);
  return first.shown;
}

/** The payment of a request as its client wrote it, for a face that passes it on; undefined: none. Throws as `readPaymentHeader` does. */
export function payloadIn(headers: PaymentHeaders): unknown {
  const decoded = decodedIn(headers);
  return (decoded.find(({ value }) => versionOf(value) === 2) ?? decoded[0])?.value;
}

function decodedIn(headers: PaymentHeaders, onMalformed?: () => void): Decoded[] {
  const { 'payment-signature': newer = '', 'x-payment': older = '' } = headers;
  const given: [HeaderName, string][] = [
    ['PAYMENT-SIGNATURE', newer],
    ['X-PAYMENT', older],
  ];
  try {
    return given.flatMap(([name, text]) => (text.trim() === '' ? [] : [{ name, value: decodePayment(name, text) }]));
  } catch (error) {
    onMalformed?.();
    throw error;
  }
}

/** True for two forms of one payment: what was signed is the same. */
const isSame = (one: Shown, other: Shown): boolean => signedIn(one) === signedIn(other);

function signedIn(shown: Shown): string {
  const { signature: _, ...voucher } = isVoucher(shown) ? shown.voucher : { signature: '' };
  const signed = isVoucher(shown) ? [voucher, shown.type, shown.deposit, shown.refundMicro] : [shown.authorization];
  return JSON.stringify(signed, (_name, value) => (typeof value === 'bigint' ? String(value) : value));
}

const versionOf = (value: unknown): unknown => (value as { x402Version?: unknown } | null)?.x402Version;

function readAs({ name, value }: Decoded, onMalformed?: () => void): Shown {
  const isOfChannel = schemeOf(value) === CHANNEL_SCHEME;
  try {
    if (isOfChannel) return readVoucher(name, value);
    requireExact(name, value);
    return versionOf(value) === 1 ? readV1(name, value) : readV2(name, value);
  } catch (error) {
    if (isOfChannel) onMalformed?.();
    throw error;
  }
}

interface NamesScheme {
  readonly scheme?: unknown;
  readonly accepted?: { readonly scheme?: unknown } | null;
  readonly payload?: { readonly authorization?: unknown; readonly permit2Authorization?: unknown } | null;
}

function schemeOf(value: unknown): unknown {
  const payment = value as NamesScheme | null;
  return versionOf(value) === 1 ? payment?.scheme : payment?.accepted?.scheme;
}

/** Names what a payload is that this node cannot read: of another scheme, or of another method of this one. */
function requireExact(name: HeaderName, value: unknown): void {
  const payload = (value as NamesScheme | null)?.payload;
  // One of this shape is judged by its scheme.
  if (payload?.authorization !== undefined) return;
  const scheme = schemeOf(value);
  const place = versionOf(value) === 1 ? `${name}.scheme` : `${name}.accepted.scheme`;
  if (typeof scheme === 'string' && scheme !== 'exact')
    throw invalid(
      place,
      `is ${JSON.stringify(scheme.slice(0, 64))}: this node takes "exact" and, where offered, "${CHANNEL_SCHEME}"`,
    );
  if (payload?.permit2Authorization !== undefined)
    throw invalid(`${name}.payload`, 'is for Permit2: sign an EIP-3009 TransferWithAuthorization of the token');
}

function readV2(name: HeaderName, decoded: unknown): ShownPayment {
  const parsed = PaymentPayloadV2.safeParse(decoded, { error: problemText });
  if (!parsed.success) throw malformed(name, parsed.error);
  const { accepted, payload, extensions } = parsed.data;
  const { scheme: namedScheme, network } = accepted;
  const identifier = extensions?.['payment-identifier']?.info?.id ?? null;
  return { scheme: 'exact', namedScheme, version: 2, network, accepted, identifier, ...toAuthorization(payload) };
}

function readVoucher(name: HeaderName, decoded: unknown): ShownVoucher {
  const parsed = ChannelPayloadV2.safeParse(decoded, { error: problemText });
  if (!parsed.success) throw malformed(name, parsed.error);
  const { accepted, payload, extensions } = parsed.data;
  const identifier = extensions?.['payment-identifier']?.info?.id ?? null;
  return {
    version: 2,
    scheme: CHANNEL_SCHEME,
    network: accepted.network,
    ...{ accepted, identifier, type: payload.type },
    voucher: {
      config: toConfig(payload.channelConfig),
      channelId: payload.voucher.channelId.toLowerCase(),
      maxMicro: BigInt(payload.voucher.maxClaimableAmount),
      // Only a key signs vouchers.
      signature: strictForm(payload.voucher.signature.toLowerCase()),
    },
    deposit: toDeposit(payload),
    refundMicro: payload.amount === undefined ? null : BigInt(payload.amount),
  };
}

const toConfig = (config: ChannelPayload['channelConfig']): ChannelConfig => ({
  payer: config.payer.toLowerCase(),
  payerAuthorizer: config.payerAuthorizer.toLowerCase(),
  receiver: config.receiver.toLowerCase(),
  receiverAuthorizer: config.receiverAuthorizer.toLowerCase(),
  token: config.token.toLowerCase(),
  withdrawDelayS: config.withdrawDelay,
  salt: config.salt.toLowerCase(),
});

function toDeposit({ type, deposit }: ChannelPayload): ShownVoucher['deposit'] {
  if (type !== 'deposit' || !deposit) return null;
  const shown = deposit.authorization.erc3009Authorization;
  return {
    amountMicro: BigInt(deposit.amount),
    authorization: shown
      ? {
          validAfterS: BigInt(shown.validAfter),
          validBeforeS: BigInt(shown.validBefore),
          salt: shown.salt.toLowerCase(),
          signature: shown.signature.toLowerCase(),
        }
      : null,
  };
}

function readV1(name: HeaderName, decoded: unknown): ShownPayment {
  const parsed = PaymentPayloadV1.safeParse(decoded, { error: problemText });
  if (!parsed.success) throw malformed(name, parsed.error);
  const { scheme: namedScheme, network, payload } = parsed.data;
  return {
    scheme: 'exact',
    namedScheme,
    version: 1,
    network,
    accepted: null,
    identifier: null,
    ...toAuthorization(payload),
  };
}

function malformed(name: string, error: { issues: readonly { path: PropertyKey[]; message: string }[] }) {
  const issue = error.issues[0];
  return invalid([name, ...(issue?.path ?? [])].join('.'), issue?.message ?? 'is malformed');
}

function toAuthorization({
  authorization,
  signature,
}: Eip3009Payload): Pick<ShownPayment, 'authorization' | 'signature'> {
  return {
    signature: signature.toLowerCase(),
    authorization: {
      from: authorization.from.toLowerCase(),
      to: authorization.to.toLowerCase(),
      valueMicro: BigInt(authorization.value),
      validAfterS: BigInt(authorization.validAfter),
      validBeforeS: BigInt(authorization.validBefore),
      nonce: authorization.nonce.toLowerCase(),
    },
  };
}
