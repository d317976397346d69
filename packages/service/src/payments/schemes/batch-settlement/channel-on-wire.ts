import {
  CHANNEL_SCHEME,
  type ChannelPayload,
  ChannelPayloadV2,
  type RequirementsV2,
} from '@agent-network/contracts/payments/x402';
import type { ChannelConfig } from '../../../chain/channels/channel-digests.ts';
import { strictForm } from '../../../chain/keys/authorization.ts';
import { problemText } from '../../../lib/json/problem-text.ts';
import { malformed, type PresentedPayment } from '../../x402/presented-payment.ts';
import { commonTerms, tokenExtra, type X402Scheme } from '../../x402/x402-scheme.ts';

/** The voucher of a channel, in version 2. Addresses, hashes and signatures in lower case. */
export interface PresentedVoucher extends PresentedPayment {
  readonly version: 2;
  readonly scheme: typeof CHANNEL_SCHEME;
  readonly accepted: RequirementsV2;
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
  /** Requested amount of a refund; null: all. */
  readonly refundMicro: bigint | null;
}

export const isVoucher = (shown: PresentedPayment): shown is PresentedVoucher => shown.scheme === CHANNEL_SCHEME;

/**
 * Calls that a suggested deposit covers. Stock clients deposit the offered amount, and the node pays the gas of deposits, so it suggests
 * enough for several calls, and accepts less.
 */
const CALLS_A_DEPOSIT = 10n;

/** Scheme `batch-settlement` of x402: only of calls, where the node takes channels, and for who asks. */
export const channelOnWire: X402Scheme<PresentedVoucher> = {
  id: CHANNEL_SCHEME,
  offer(chain, { purpose, amountMicro, channels, takesChannel = true }, { common, extra, correction }) {
    if (!chain.channels || purpose !== 'invocation' || !takesChannel) return [];
    const { withdrawDelayS: withdrawDelay, minDepositMicro, isOfferedToAll } = chain.channels;
    if (!isOfferedToAll && channels === undefined) return [];
    const advisedMicro = CALLS_A_DEPOSIT * amountMicro;
    const minDeposit = (advisedMicro > minDepositMicro ? advisedMicro : minDepositMicro).toString();
    const ofChannel = { receiverAuthorizer: chain.wallet, withdrawDelay, minDeposit, ...correction };
    return [{ scheme: CHANNEL_SCHEME, ...common, extra: { ...extra, ...ofChannel } }];
  },
  listed(chain, amountMicro) {
    if (!chain.channels) return [];
    const { withdrawDelayS: withdrawDelay, minDepositMicro } = chain.channels;
    const ofChannel = { receiverAuthorizer: chain.wallet, withdrawDelay, minDeposit: minDepositMicro.toString() };
    const extra = { ...tokenExtra(chain), ...ofChannel };
    return [{ scheme: CHANNEL_SCHEME, ...commonTerms(chain, amountMicro), extra }];
  },
  read(header, payload) {
    const parsed = ChannelPayloadV2.safeParse(payload, { error: problemText });
    if (!parsed.success) throw malformed(header, parsed.error);
    const { accepted, payload: signed, extensions } = parsed.data;
    const identifier = extensions?.['payment-identifier']?.info?.id ?? null;
    const config = toConfig(signed.channelConfig);
    return {
      ...{ version: 2, scheme: CHANNEL_SCHEME, network: accepted.network, payer: config.payer },
      ...{ accepted, identifier, type: signed.type },
      voucher: {
        config,
        channelId: signed.voucher.channelId.toLowerCase(),
        maxMicro: BigInt(signed.voucher.maxClaimableAmount),
        // Only a key signs vouchers.
        signature: strictForm(signed.voucher.signature.toLowerCase()),
      },
      deposit: toDeposit(signed),
      refundMicro: signed.amount === undefined ? null : BigInt(signed.amount),
    };
  },
  signedPart({ voucher: { signature: _, ...voucher }, type, deposit, refundMicro }) {
    return [voucher, type, deposit, refundMicro];
  },
  // The sum of a voucher can be guessed, its signature cannot.
  turnKey: ({ voucher: { channelId, signature } }) => `${channelId} ${signature}`,
};

const toConfig = (config: ChannelPayload['channelConfig']): ChannelConfig => ({
  payer: config.payer.toLowerCase(),
  payerAuthorizer: config.payerAuthorizer.toLowerCase(),
  receiver: config.receiver.toLowerCase(),
  receiverAuthorizer: config.receiverAuthorizer.toLowerCase(),
  token: config.token.toLowerCase(),
  withdrawDelayS: config.withdrawDelay,
  salt: config.salt.toLowerCase(),
});

function toDeposit({ type, deposit }: ChannelPayload): PresentedVoucher['deposit'] {
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

/**
 * True if a client names the scheme of channels among those that it can pay by. Others are offered none: there are clients that check every
 * entry of a 402, as thirdweb's does, and pay nothing when they do not know one (docs/decisions/0044-channels-for-who-asks.md).
 */
export const asksForChannels = (schemes: string | undefined): boolean =>
  (schemes ?? '').split(/[\s,]+/).includes(CHANNEL_SCHEME);
