import type { ChainInfo } from '../../chain/chain-info.ts';
import { openAddressReason } from './open-addresses.ts';
import type { ShownPayment } from './payment-header.ts';

/** Names of refusal follow the reference implementation, so that clients which know them need not learn others. */
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
  unsupported_scheme: 'Only the scheme "exact" is taken.',
  invalid_network: 'The payment is for another network.',
  invalid_exact_evm_payload_recipient_mismatch: 'The payment is made out to another recipient.',
  invalid_exact_evm_payload_authorization_value_mismatch: 'The payment is not exactly the amount asked for.',
  invalid_exact_evm_payload_authorization_valid_after: 'The payment is not valid yet.',
  invalid_exact_evm_payload_authorization_valid_before:
    'The payment has expired, will before it can be settled, or is valid for more than a day.',
  invalid_exact_evm_signature: 'The signature is not of the paying wallet.',
  invalid_offer: 'The payment answers an offer that is not ours, not for this call or account, or too old.',
  invalid_exact_evm_nonce_already_used:
    'The authorization was used or cancelled on chain. What it brought here belongs to the wallet that sent it, and pays only for an account that has proven this wallet (POST /payments/claims).',
  invalid_exact_evm_insufficient_balance: 'The paying wallet holds less than the amount.',
  invalid_exact_evm_transaction_simulation_failed: 'The token refuses the transfer.',
  invalid_exact_evm_transaction_failed: 'The token refused the transfer.',
};

/** No client of x402 signs for longer, and what is signed for ever would have to be watched for ever. */
const LONGEST_WINDOW_S = 86_400n;

/** A payment must outlive its check by this much, or it may expire on its way into a block. */
const SETTLE_MARGIN_S = 6n;

/**
 * Everything about a payment that can be told without the chain, in the order in which a reader would want to know.
 * null: nothing is wrong. The signature is left to the chain, which alone can judge a contract wallet's (EIP-1271).
 */
export function refusalOf(
  chain: ChainInfo,
  shown: ShownPayment,
  due: { amountMicro: bigint; nowS: number },
): RefusalReason | null {
  const { authorization } = shown;
  const now = BigInt(due.nowS);
  if (shown.scheme !== 'exact') return 'unsupported_scheme';
  if (shown.network !== (shown.version === 2 ? chain.caip2 : chain.name)) return 'invalid_network';
  // It could not sign; and what is refunded goes back to it.
  if (openAddressReason(authorization.from)) return 'invalid_exact_evm_signature';
  if (authorization.to !== chain.wallet) return 'invalid_exact_evm_payload_recipient_mismatch';
  if (authorization.valueMicro !== due.amountMicro) return 'invalid_exact_evm_payload_authorization_value_mismatch';
  if (authorization.validAfterS > now) return 'invalid_exact_evm_payload_authorization_valid_after';
  if (authorization.validBeforeS < now + SETTLE_MARGIN_S || authorization.validBeforeS > now + LONGEST_WINDOW_S)
    return 'invalid_exact_evm_payload_authorization_valid_before';
  return null;
}
