import type { HasChain } from '../../chain/chain-info.ts';
import type { IncomingTransfer } from '../../chain/incoming-transfer-client.ts';
import { nonceOfReturned } from '../../chain/keys/payment-nonces.ts';
import { authorizationKey } from '../../chain/used-authorizations.ts';
import type { Tx } from '../../db/sql.ts';
import { findPaymentsByNonce, type KnownPayment, relocateCredited } from '../onchain/credited-transfer-store.ts';

export type ArrivedTransfer = Pick<
  IncomingTransfer,
  'from' | 'valueMicro' | 'transactionHash' | 'blockNumber' | 'blockHash'
> & {
  /** Unique key of the transfer: the nonce of its authorization, or for a plain transfer its position on chain. */
  readonly nonce: string;
};

/**
 * The transfers that are not booked yet, each with the nonce to credit it under. Booked ones are updated to their current block. A transfer
 * that was reversed after a reorg and is mined again is another payment: its nonce is derived from the previous one, so that it too is
 * credited once, however often it is read.
 */
export async function newlyArrived(
  ctx: HasChain,
  tx: Tx,
  transfers: readonly ArrivedTransfer[],
): Promise<ArrivedTransfer[]> {
  const arrived: ArrivedTransfer[] = [];
  let open = transfers;
  while (open.length > 0) {
    await relocateCredited(tx, ctx.chain, open);
    const known = await findPaymentsByNonce(tx, ctx.chain, open);
    const knownOf = (transfer: ArrivedTransfer) => known.get(authorizationKey(transfer));
    arrived.push(...open.filter((transfer) => !knownOf(transfer)));
    open = open
      .filter((transfer) => isOver(knownOf(transfer), transfer))
      .map((transfer) => ({ ...transfer, nonce: nonceOfReturned(transfer.nonce) }));
  }
  return arrived;
}

/**
 * True if the known payment is not this transfer: it was reversed, a contract transferred another amount after a reorg, or it is a deposit
 * into a channel, whose payer signed the same nonce for the wallet as well.
 */
const isOver = (known: KnownPayment | undefined, { valueMicro }: ArrivedTransfer): boolean =>
  known !== undefined &&
  (known.state === 'reversed' || known.valueMicro !== valueMicro || known.direction === 'channel');
