import type { ChainInfo, ChannelTerms } from '../../../chain/chain-info.ts';
import { windowRefusalOf } from '../exact/check-payment.ts';
import type { Channel } from './channel.ts';
import type { PresentedVoucher } from './channel-on-wire.ts';
import { type ChannelRefusal, depositRefusals } from './channel-refusal.ts';

/** Limits of the contract: 15 minutes to 30 days. */
const MIN_DELAY_S = 900;
const MAX_DELAY_S = 2_592_000;

const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;

/** Values computed from a shown voucher: the id of its channel, and the key that signed it; null: none, or not strictly. */
export interface Computed {
  readonly channelId: string;
  readonly signer: string | null;
}

/**
 * All objections to a voucher that need no state, in the order of the scheme's reference implementation; null: none. The signature comes
 * last, so that whatever is judged after this comes from the holder of the channel's key.
 */
export function refusalOfVoucher(
  chain: Pick<ChainInfo, 'caip2' | 'token' | 'wallet'>,
  terms: ChannelTerms,
  { network, voucher }: Pick<PresentedVoucher, 'network' | 'voucher'>,
  { channelId, signer }: Computed,
): ChannelRefusal | null {
  const { config } = voucher;
  if (network !== chain.caip2) return 'invalid_batch_settlement_evm_network_mismatch';
  if (!/^0x[0-9a-f]{64}$/.test(voucher.channelId)) return 'invalid_batch_settlement_evm_channel_id_invalid';
  if (voucher.channelId !== channelId) return 'invalid_batch_settlement_evm_channel_id_mismatch';
  if (config.receiver !== chain.wallet) return 'invalid_batch_settlement_evm_receiver_mismatch';
  if (config.receiverAuthorizer !== chain.wallet) return 'invalid_batch_settlement_evm_receiver_authorizer_mismatch';
  if (config.token !== chain.token) return 'invalid_batch_settlement_evm_token_mismatch';
  if (config.withdrawDelayS < MIN_DELAY_S || config.withdrawDelayS > MAX_DELAY_S)
    return 'invalid_batch_settlement_evm_withdraw_delay_out_of_range';
  if (config.withdrawDelayS !== terms.withdrawDelayS) return 'invalid_batch_settlement_evm_withdraw_delay_mismatch';
  // Without a key of its own, a channel is signed for by the payer's code, which may say something else when it is claimed.
  if (config.payerAuthorizer === ZERO_ADDRESS) return 'invalid_batch_settlement_evm_voucher_signature';
  return signer === config.payerAuthorizer ? null : 'invalid_batch_settlement_evm_voucher_signature';
}

/** Objections to the deposit of a payload that need no state; null: none. */
export function refusalOfDeposit(
  terms: ChannelTerms,
  { deposit }: Pick<PresentedVoucher, 'deposit'>,
  nowS: number,
): ChannelRefusal | null {
  if (!deposit) return 'invalid_batch_settlement_evm_payload_type';
  const { authorization } = deposit;
  if (!authorization) return 'invalid_batch_settlement_evm_erc3009_authorization_required';
  if (deposit.amountMicro === 0n || deposit.amountMicro < terms.minDepositMicro)
    return 'invalid_batch_settlement_evm_deposit_below_min_deposit';
  const refusal = windowRefusalOf(authorization, BigInt(nowS));
  return refusal && depositRefusals[refusal];
}

/** Amounts of a channel and its closing state, for judging a voucher. */
export type JudgedChannel = Pick<
  Channel,
  | 'balanceMicro'
  | 'claimedMicro'
  | 'chargedMicro'
  | 'reservedMicro'
  | 'publishedMicro'
  | 'withdrawRequestedAt'
  | 'refundId'
>;

export type VoucherJudgement =
  | { readonly kind: 'admitted' }
  | {
      readonly kind: 'refused';
      readonly reason: ChannelRefusal;
      /** True if the answer may contain the channel's state: only the holder of its key can have signed this voucher. */
      readonly isCorrected: boolean;
    };

const refused = (reason: ChannelRefusal, isCorrected = false): VoucherJudgement => ({
  kind: 'refused',
  reason,
  isCorrected,
});

/**
 * Judges a well-signed voucher against its channel; null: the node knows of no deposit. A voucher pays for one call: it is for exactly the
 * charged and reserved amount of the channel plus the price. Anyone can present a voucher published by a claim, so the answer to it never
 * contains the channel's state.
 */
export function judgeVoucher(
  channel: JudgedChannel | null,
  { maxMicro, priceMicro, depositMicro = 0n }: { maxMicro: bigint; priceMicro: bigint; depositMicro?: bigint },
): VoucherJudgement {
  const { publishedMicro, claimedMicro, chargedMicro, reservedMicro, balanceMicro } = channel ?? fresh;
  if (!channel && depositMicro === 0n) return refused('invalid_batch_settlement_evm_channel_not_found');
  if (channel?.withdrawRequestedAt) return refused('invalid_batch_settlement_evm_missing_channel');
  // More was claimed than the books charged: a call that was claimed ahead has failed, or the database has lost calls. Soon charged again.
  if (channel?.refundId || claimedMicro > chargedMicro + reservedMicro)
    return refused('invalid_batch_settlement_evm_channel_busy');
  // A voucher that pays for a call is above all that are public.
  if (publishedMicro > chargedMicro + reservedMicro) return refused('invalid_batch_settlement_evm_missing_channel');
  const isPublic = maxMicro <= publishedMicro;
  if (maxMicro !== chargedMicro + reservedMicro + priceMicro || priceMicro <= 0n)
    return maxMicro <= claimedMicro
      ? refused('invalid_batch_settlement_evm_cumulative_below_claimed', !isPublic)
      : refused('invalid_batch_settlement_evm_cumulative_amount_mismatch', channel !== null && !isPublic);
  if (maxMicro > balanceMicro + depositMicro) return refused('invalid_batch_settlement_evm_cumulative_exceeds_balance');
  return { kind: 'admitted' };
}

const fresh: JudgedChannel = {
  balanceMicro: 0n,
  claimedMicro: 0n,
  chargedMicro: 0n,
  reservedMicro: 0n,
  publishedMicro: 0n,
  withdrawRequestedAt: null,
  refundId: null,
};
