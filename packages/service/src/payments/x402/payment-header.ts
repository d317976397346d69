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
import type { Authorization } from '../../chain/signatures/authorization.ts';
import { invalid } from '../../lib/app-error.ts';
import { problemText } from '../../lib/json/problem-text.ts';

/** A payment as shown by the client; both x402 versions in one form. */
export interface ShownPayment {
  readonly version: 1 | 2;
  readonly scheme: string;
  readonly network: string;
  /** The offer that a v2 payment echoes; null for v1. */
  readonly accepted: RequirementsV2 | null;
  readonly authorization: Authorization;
  readonly signature: string;
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

/** Contents of a client's payment header. */
export type Shown = ShownPayment | ShownVoucher;

export const isVoucher = (shown: Shown): shown is ShownVoucher => 'voucher' in shown;

/** The wallet that a payment says it is of: nothing proves that before it is checked. */
export const payingWallet = (shown: Shown): string =>
  isVoucher(shown) ? shown.voucher.config.payer : shown.authorization.from;

export interface PaymentHeaders {
  readonly 'payment-signature'?: string | undefined;
  readonly 'x-payment'?: string | undefined;
}

/**
 * Parses the payment header of a request; null without one. Throws VALIDATION_ERROR (400) when it is malformed; `onMalformed` is called
 * before, unless it was certainly no payload of a channel.
 */
export function readPaymentHeader(headers: PaymentHeaders, onMalformed?: () => void): Shown | null {
  const v2 = headers['payment-signature'];
  const v1 = headers['x-payment'];
  if (v2 !== undefined && v1 !== undefined)
    throw invalid('X-PAYMENT', 'came together with PAYMENT-SIGNATURE; send one');
  if (v2 !== undefined) return readV2(v2, onMalformed);
  return v1 === undefined ? null : readV1(v1);
}

function readV2(header: string, onMalformed?: () => void): Shown {
  let isOfChannel = true;
  try {
    const decoded = decode('PAYMENT-SIGNATURE', header);
    const schemeOf = decoded as { accepted?: { scheme?: unknown } } | null;
    isOfChannel = schemeOf?.accepted?.scheme === CHANNEL_SCHEME;
    return isOfChannel ? readVoucher(decoded) : readExact(decoded);
  } catch (error) {
    if (isOfChannel) onMalformed?.();
    throw error;
  }
}

function readExact(decoded: unknown): ShownPayment {
  const parsed = PaymentPayloadV2.safeParse(decoded, { error: problemText });
  if (!parsed.success) throw malformed('PAYMENT-SIGNATURE', parsed.error);
  const { accepted, payload, extensions } = parsed.data;
  const { scheme, network } = accepted;
  const identifier = extensions?.['payment-identifier']?.info?.id ?? null;
  return { version: 2, scheme, network, accepted, identifier, ...toAuthorization(payload) };
}

function readVoucher(decoded: unknown): ShownVoucher {
  const parsed = ChannelPayloadV2.safeParse(decoded, { error: problemText });
  if (!parsed.success) throw malformed('PAYMENT-SIGNATURE', parsed.error);
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
      signature: payload.voucher.signature.toLowerCase(),
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

function readV1(header: string): ShownPayment {
  const parsed = PaymentPayloadV1.safeParse(decode('X-PAYMENT', header), { error: problemText });
  if (!parsed.success) throw malformed('X-PAYMENT', parsed.error);
  const { scheme, network, payload } = parsed.data;
  return { version: 1, scheme, network, accepted: null, identifier: null, ...toAuthorization(payload) };
}

function decode(name: string, header: string): unknown {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(header)) throw invalid(name, 'is not base64');
  try {
    return JSON.parse(Buffer.from(header, 'base64').toString('utf8'));
  } catch {
    throw invalid(name, 'does not hold JSON; it may be cut off');
  }
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
