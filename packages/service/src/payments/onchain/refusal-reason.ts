/** Refusal reasons. The names follow the reference implementation, so that clients written for it understand them. */
export type RefusalReason =
  | 'unsupported_scheme'
  | 'invalid_network'
  | 'invalid_exact_evm_payload_recipient_mismatch'
  | 'invalid_exact_evm_payload_authorization_value_mismatch'
  | 'invalid_exact_evm_payload_authorization_valid_after'
  | 'invalid_exact_evm_payload_authorization_valid_before'
  | 'invalid_exact_evm_signature'
  | 'invalid_offer'
  | 'invalid_exact_evm_nonce_already_used'
  | 'invalid_exact_evm_insufficient_balance'
  | 'invalid_exact_evm_transaction_simulation_failed'
  | 'invalid_exact_evm_transaction_failed';

export const refusalText: Record<RefusalReason, string> = {
  unsupported_scheme: 'Only the scheme "exact" is accepted.',
  invalid_network: 'The payment is for another network.',
  invalid_exact_evm_payload_recipient_mismatch: 'The payment is for another recipient.',
  invalid_exact_evm_payload_authorization_value_mismatch: "The payment's amount is not exactly the required one.",
  invalid_exact_evm_payload_authorization_valid_after: 'The payment is not valid yet.',
  invalid_exact_evm_payload_authorization_valid_before:
    'The payment has expired, expires before it can be settled, or is valid for more than a day.',
  invalid_exact_evm_signature: 'The signature is not by the paying wallet.',
  invalid_offer: 'The payment is for an offer that is expired, not from this node, or not for this call and account.',
  invalid_exact_evm_nonce_already_used:
    'The authorization was used or cancelled on chain. Its money belongs to the sending wallet, and pays only for an account that has proven that wallet (POST /payments/claims).',
  invalid_exact_evm_insufficient_balance: 'The paying wallet holds less than the amount.',
  invalid_exact_evm_transaction_simulation_failed: 'The token refuses the transfer.',
  invalid_exact_evm_transaction_failed: 'The token refused the transfer.',
};
