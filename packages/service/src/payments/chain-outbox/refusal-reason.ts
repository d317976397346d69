/** Refusal reasons. The names follow the reference implementation, so that clients written for it understand them. */
export type RefusalReason =
  | 'unsupported_scheme'
  | 'invalid_network'
  | 'invalid_exact_evm_payload_recipient_mismatch'
  | 'invalid_exact_evm_payload_authorization_value_mismatch'
  | 'invalid_exact_evm_payload_authorization_valid_after'
  | 'invalid_exact_evm_payload_authorization_valid_before'
  | 'invalid_exact_evm_signature'
  | 'invalid_exact_evm_signature_of_delegated_wallet'
  | 'invalid_exact_evm_payload_undeployed_smart_wallet'
  | 'invalid_exact_evm_token_name_mismatch'
  | 'invalid_exact_evm_token_version_mismatch'
  | 'invalid_offer'
  | 'invalid_exact_evm_nonce_already_used'
  | 'invalid_exact_evm_insufficient_balance'
  | 'invalid_exact_evm_transaction_simulation_failed'
  | 'invalid_exact_evm_transaction_failed';

export const refusalText: Record<RefusalReason, string> = {
  unsupported_scheme:
    'The payment is of a scheme that is not taken here: pay by one that the terms offer, as "exact" (EIP-3009).',
  invalid_network: 'The payment is for another network: sign for the one that the terms name.',
  invalid_exact_evm_payload_recipient_mismatch: 'The payment is for another recipient.',
  invalid_exact_evm_payload_authorization_value_mismatch: "The payment's amount is not exactly the required one.",
  invalid_exact_evm_payload_authorization_valid_after: 'The payment is not valid yet.',
  invalid_exact_evm_payload_authorization_valid_before:
    'The payment has expired, expires before it can be settled, or is valid for more than a day.',
  invalid_exact_evm_signature: 'The signature is not by the paying wallet.',
  invalid_exact_evm_signature_of_delegated_wallet:
    'The code that the paying wallet delegates to (EIP-7702) does not take this signature: sign in the form that it takes, or end the delegation.',
  invalid_exact_evm_payload_undeployed_smart_wallet:
    'The paying wallet is not deployed (its signature is wrapped, ERC-6492): deploy it, as any transaction of it does, and show the same payment again.',
  invalid_exact_evm_token_name_mismatch:
    'The payment is signed for a token of another name: sign with the name in `extra` of the terms (EIP-712 domain).',
  invalid_exact_evm_token_version_mismatch:
    'The payment is signed for another version of the token: sign with the version in `extra` of the terms (EIP-712 domain).',
  invalid_offer: 'The payment is for an offer that is expired, not from this node, or not for this call and account.',
  invalid_exact_evm_nonce_already_used:
    'The authorization was used or cancelled on chain. Its money belongs to the sending wallet, and pays only for an account that has proven that wallet (POST /payments/claims).',
  invalid_exact_evm_insufficient_balance: 'The paying wallet holds less than the amount.',
  invalid_exact_evm_transaction_simulation_failed: 'The token refuses the transfer.',
  invalid_exact_evm_transaction_failed: 'The token refused the transfer.',
};
