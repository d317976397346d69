import type { ChainInfo } from '../../chain/chain-info.ts';
import { type Authorization, MAX_AUTHORIZATION_WINDOW_S } from '../../chain/signatures/authorization.ts';
import type { RefusalReason } from '../onchain/refusal-reason.ts';
import { openAddressReason } from './open-addresses.ts';
import type { ShownPayment } from './payment-header.ts';

/** A payment must remain valid for this long after its check, or it may expire before it is mined. */
const SETTLE_MARGIN_S = 6n;

/**
 * All checks of a payment that need no chain access, most informative reason first; null: no objection. The signature is left to the chain,
 * which alone can verify a contract wallet's (EIP-1271).
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
  // Such an address cannot sign, and a refund would be sent to it.
  if (openAddressReason(authorization.from)) return 'invalid_exact_evm_signature';
  if (authorization.to !== chain.wallet) return 'invalid_exact_evm_payload_recipient_mismatch';
  if (authorization.valueMicro !== due.amountMicro) return 'invalid_exact_evm_payload_authorization_value_mismatch';
  return windowRefusalOf(authorization, now);
}

/** The reason that an authorization is not valid now for long enough, or too long; null: it is. */
export function windowRefusalOf(
  { validAfterS, validBeforeS }: Pick<Authorization, 'validAfterS' | 'validBeforeS'>,
  nowS: bigint,
): RefusalReason | null {
  if (validAfterS > nowS) return 'invalid_exact_evm_payload_authorization_valid_after';
  if (validBeforeS < nowS + SETTLE_MARGIN_S || validBeforeS > nowS + MAX_AUTHORIZATION_WINDOW_S)
    return 'invalid_exact_evm_payload_authorization_valid_before';
  return null;
}
