import type { HasChain } from '../../chain/chain-info.ts';
import type { IncomingTransfer } from '../../chain/incoming-transfer-client.ts';
import { nonceOfReturned } from '../../chain/node-wallet.ts';
import { authorizationKey } from '../../chain/used-authorizations.ts';
import type { Tx } from '../../db/sql.ts';
import { findPaymentsByNonce, type KnownPayment, relocateCredited } from '../onchain/credited-transfer-store.ts';

export type ArrivedTransfer = Pick<
  IncomingTransfer,
  'from' | 'valueMicro' | 'transactionHash' | 'blockNumber' | 'blockHash'
> & {
  /** What makes the transfer one of a kind: the nonce of its authorization, or the place of a plain one on chain. */
  readonly nonce: string;
};

/**
 * Those of the transfers that are not in the books, each under the nonce that it is to be credited under. What is in the books is
 * found at the block that has it now. What the books took back after a reorg, and the chain has again, is another payment: its nonce
 * follows from the one before, so that it too is credited once, however often it is read.
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

/** A contract may transfer another amount when a reorg has it do so again: what it did before is lost, and will be reversed. */
const isOver = (known: KnownPayment | undefined, { valueMicro }: ArrivedTransfer): boolean =>
  known !== undefined && (known.state === 'reversed' || known.valueMicro !== valueMicro);
