import type { RefusalReason } from '../../chain-outbox/refusal-reason.ts';

/** Codes of refused vouchers, deposits and refunds, as documented by the scheme `batch-settlement` on EVM chains. */
export type ChannelRefusal = `invalid_batch_settlement_evm_${
  | 'network_mismatch'
  | 'payload_type'
  | 'channel_id_invalid'
  | 'channel_id_mismatch'
  | 'receiver_mismatch'
  | 'receiver_authorizer_mismatch'
  | 'token_mismatch'
  | 'withdraw_delay_mismatch'
  | 'withdraw_delay_out_of_range'
  | 'voucher_signature'
  | 'channel_not_found'
  | 'missing_channel'
  | 'channel_busy'
  | 'cumulative_amount_mismatch'
  | 'cumulative_below_claimed'
  | 'cumulative_exceeds_balance'
  | 'erc3009_authorization_required'
  | 'payload_authorization_valid_after'
  | 'payload_authorization_valid_before'
  | 'receive_authorization_signature'
  | 'deposit_below_min_deposit'
  | 'insufficient_balance'
  | 'deposit_simulation_failed'
  | 'deposit_transaction_failed'
  | 'refund_payload'
  | 'refund_no_balance'
  | 'refund_amount_invalid'
  | 'refund_transaction_failed'}`;

export const channelRefusalText: Record<ChannelRefusal, string> = {
  invalid_batch_settlement_evm_network_mismatch: 'The voucher is for another network.',
  invalid_batch_settlement_evm_payload_type: 'This call takes payloads of the types "voucher" and "deposit".',
  invalid_batch_settlement_evm_channel_id_invalid: 'The channel id is not 32 bytes in hexadecimal.',
  invalid_batch_settlement_evm_channel_id_mismatch: 'The channel id is not the digest of the channel configuration.',
  invalid_batch_settlement_evm_receiver_mismatch: 'The channel is for another receiver.',
  invalid_batch_settlement_evm_receiver_authorizer_mismatch: 'The channel is for another receiver authorizer.',
  invalid_batch_settlement_evm_token_mismatch: 'The channel is for another token.',
  invalid_batch_settlement_evm_withdraw_delay_mismatch: 'The channel has another withdraw delay than asked for.',
  invalid_batch_settlement_evm_withdraw_delay_out_of_range: 'The withdraw delay is not one that the contract takes.',
  invalid_batch_settlement_evm_voucher_signature:
    "The voucher is not signed by the channel's payer authorizer: 65 bytes, v 27 or 28, s in the lower half, and an authorizer that is a key.",
  invalid_batch_settlement_evm_channel_not_found: 'The channel has no deposit that this node knows of.',
  invalid_batch_settlement_evm_missing_channel:
    'The channel no longer accepts vouchers: its payer is withdrawing, or its last voucher is public. Open one with another salt.',
  invalid_batch_settlement_evm_channel_busy:
    'A refund or a claim of the channel is under way. Repeat the call when it is done.',
  invalid_batch_settlement_evm_cumulative_amount_mismatch:
    'The voucher is not for what the channel was charged, calls in flight included, plus the amount of this call.',
  invalid_batch_settlement_evm_cumulative_below_claimed: 'The voucher is for no more than one that was claimed.',
  invalid_batch_settlement_evm_cumulative_exceeds_balance: "The voucher is for more than the channel's deposits.",
  invalid_batch_settlement_evm_erc3009_authorization_required:
    'Deposits are taken with an ERC-3009 authorization only.',
  invalid_batch_settlement_evm_payload_authorization_valid_after: "The deposit's authorization is not valid yet.",
  invalid_batch_settlement_evm_payload_authorization_valid_before:
    "The deposit's authorization has expired, expires before it can be settled, or is valid for more than a day.",
  invalid_batch_settlement_evm_receive_authorization_signature:
    "The deposit's authorization is not by the paying wallet.",
  invalid_batch_settlement_evm_deposit_below_min_deposit: 'The deposit is below the minimum of this node.',
  invalid_batch_settlement_evm_insufficient_balance: 'The paying wallet holds less than the deposit.',
  invalid_batch_settlement_evm_deposit_simulation_failed: 'The contract refuses the deposit.',
  invalid_batch_settlement_evm_deposit_transaction_failed: 'The contract refused the deposit.',
  invalid_batch_settlement_evm_refund_payload: 'A refund is asked for with a payload of the type "refund".',
  invalid_batch_settlement_evm_refund_no_balance: 'The channel has nothing to refund.',
  invalid_batch_settlement_evm_refund_amount_invalid: 'The amount to refund is not above zero.',
  invalid_batch_settlement_evm_refund_transaction_failed: 'The contract refused the refund.',
};

/** The codes of `exact`, in which the settlement engine speaks, as those of deposits. */
export const depositRefusals: Readonly<Record<RefusalReason, ChannelRefusal>> = {
  unsupported_scheme: 'invalid_batch_settlement_evm_payload_type',
  invalid_network: 'invalid_batch_settlement_evm_network_mismatch',
  invalid_exact_evm_payload_recipient_mismatch: 'invalid_batch_settlement_evm_receiver_mismatch',
  invalid_exact_evm_payload_authorization_value_mismatch: 'invalid_batch_settlement_evm_deposit_transaction_failed',
  invalid_exact_evm_payload_authorization_valid_after: 'invalid_batch_settlement_evm_payload_authorization_valid_after',
  invalid_exact_evm_payload_authorization_valid_before:
    'invalid_batch_settlement_evm_payload_authorization_valid_before',
  invalid_exact_evm_signature: 'invalid_batch_settlement_evm_receive_authorization_signature',
  invalid_exact_evm_signature_of_delegated_wallet: 'invalid_batch_settlement_evm_receive_authorization_signature',
  invalid_exact_evm_payload_undeployed_smart_wallet: 'invalid_batch_settlement_evm_receive_authorization_signature',
  invalid_exact_evm_token_name_mismatch: 'invalid_batch_settlement_evm_receive_authorization_signature',
  invalid_exact_evm_token_version_mismatch: 'invalid_batch_settlement_evm_receive_authorization_signature',
  invalid_offer: 'invalid_batch_settlement_evm_deposit_transaction_failed',
  invalid_exact_evm_nonce_already_used: 'invalid_batch_settlement_evm_deposit_transaction_failed',
  invalid_exact_evm_insufficient_balance: 'invalid_batch_settlement_evm_insufficient_balance',
  invalid_exact_evm_transaction_simulation_failed: 'invalid_batch_settlement_evm_deposit_simulation_failed',
  invalid_exact_evm_transaction_failed: 'invalid_batch_settlement_evm_deposit_transaction_failed',
};

export const isChannelRefusal = (reason: string): boolean => Object.hasOwn(channelRefusalText, reason);
