import type { NodeIdentity } from '../../chain/chain-info.ts';
import { type Authorization, authorizationDigest } from '../../chain/keys/authorization.ts';
import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import type { NewChainPayment } from '../chain-outbox/chain-payment.ts';

/** Validity of an outgoing authorization; one that expires unused is signed again under the same nonce. */
export const PAYOUT_WINDOW_S = 86_400n;

/**
 * Signature of a payout that is owed and not signed yet, as the transaction that owes it can't wait for a signature. It counts as expired
 * from the start, so any process that finds it signs it, like other payouts that expired unused. Not `0x`, which is never signed.
 */
export const unsigned = { signature: '', validBeforeS: 0n } as const;

export const isUnsigned = ({ signature }: Pick<NewChainPayment, 'signature'>): boolean =>
  signature === unsigned.signature;

/** Signs a payout under its nonce, which the token pays once, however often it is signed. */
export async function signPayout(
  { chain, wallet }: Pick<NodeIdentity, 'chain'> & Pick<NodeKeys, 'wallet'>,
  payout: Pick<NewChainPayment, 'authorization'>,
  nowS: bigint,
): Promise<{ readonly authorization: Authorization; readonly signature: string }> {
  const authorization = { ...payout.authorization, from: wallet.address, validBeforeS: nowS + PAYOUT_WINDOW_S };
  return { authorization, signature: await wallet.signHash(authorizationDigest(chain.domainSeparator, authorization)) };
}
