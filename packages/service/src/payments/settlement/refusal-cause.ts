import { isUsedBefore } from '../../chain/usdc-client.ts';
import type { NewChainPayment } from '../onchain/chain-payment.ts';
import type { RefusalReason } from '../onchain/refusal-reason.ts';
import { cannotSettle, type HasSettlementHalt } from '../onchain/settlement-halt.ts';

type Refused = Pick<NewChainPayment, 'direction' | 'authorization'>;

/** The payer's part in a revert of the token, by the token's words; null: they do not tell. */
export function reasonOfRevert(revert: string): RefusalReason | null {
  if (isUsedBefore(revert)) return 'invalid_exact_evm_nonce_already_used';
  if (/signature/i.test(revert)) return 'invalid_exact_evm_signature';
  // The time of the chain's last block decides, which is behind the node's.
  if (/not yet valid/i.test(revert)) return 'invalid_exact_evm_payload_authorization_valid_after';
  if (/expired/i.test(revert)) return 'invalid_exact_evm_payload_authorization_valid_before';
  if (/exceeds balance/i.test(revert)) return 'invalid_exact_evm_insufficient_balance';
  return null;
}

/**
 * The token's reason, if a refusal is not about the payer; null: it is. Asked of the token only when its words do not tell. A payment
 * refused for such a reason has not failed: the token may accept it later. Throws when the chain does not answer.
 */
export const refusalOfNode = async (
  ctx: HasSettlementHalt,
  payment: Refused,
  revert: string,
): Promise<string | null> => (reasonOfRevert(revert) ? null : ctx.settlementHalt.causeOf(payment));

/** Throws UNAVAILABLE when a refusal is not about the payer. */
export async function requireAboutPayer(ctx: HasSettlementHalt, payment: Refused, revert: string): Promise<void> {
  const reason = await refusalOfNode(ctx, payment, revert);
  if (reason !== null) throw cannotSettle(reason);
}
