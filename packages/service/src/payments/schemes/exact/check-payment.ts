import type { ChainInfo } from '../../../chain/chain-info.ts';
import { type Authorization, MAX_AUTHORIZATION_WINDOW_S } from '../../../chain/keys/authorization.ts';
import type { RefusalReason } from '../../chain-outbox/refusal-reason.ts';
import { openAddressReason } from '../../x402/open-addresses.ts';
import type { PresentedTransfer } from './exact-on-wire.ts';

/** A payment must remain valid for this long after its check, or it may expire before it is mined. */
const SETTLE_MARGIN_S = 6n;

/**
 * All checks of a payment that need no chain access, most informative reason first; null: no objection. The signature is left to the chain,
 * which alone can verify a contract wallet's (EIP-1271).
 */
export function refusalOf(
  chain: ChainInfo,
  shown: PresentedTransfer,
  due: { amountMicro: bigint; nowS: number },
): RefusalReason | null {
  const { authorization } = shown;
  const now = BigInt(due.nowS);
  if (shown.namedScheme !== 'exact') return 'unsupported_scheme';
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

/** By how much a payment that is refused for its time misses it; null for other reasons. */
export function windowText(
  reason: RefusalReason,
  { validAfterS, validBeforeS }: Pick<Authorization, 'validAfterS' | 'validBeforeS'>,
  nowS: number,
): string | null {
  const now = BigInt(nowS);
  if (reason === 'invalid_exact_evm_payload_authorization_valid_after')
    return validAfterS < now
      ? 'The time of the chain is not there yet: show the same payment again in some seconds.'
      : `It is from ${validAfterS - now + 1n} s from now, by this node's clock (${now}): correct your clock, or sign with validAfter "0".`;
  if (reason !== 'invalid_exact_evm_payload_authorization_valid_before') return null;
  const left = validBeforeS - now;
  return left > MAX_AUTHORIZATION_WINDOW_S
    ? `It is valid for ${left} s, and at most ${MAX_AUTHORIZATION_WINDOW_S} s are taken.`
    : `By this node's clock (${now}) it ${left < 0n ? `ended ${-left} s ago` : `ends in ${left} s`}, and ${SETTLE_MARGIN_S} s at least are needed: correct your clock, or sign again.`;
}
