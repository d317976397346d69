import type { ChainInfo } from '../../chain/chain-info.ts';
import type { RefusalReason } from '../onchain/refusal-reason.ts';
import { openAddressReason } from './open-addresses.ts';
import type { ShownPayment } from './payment-header.ts';

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
