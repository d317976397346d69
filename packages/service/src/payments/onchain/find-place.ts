import { type IncomingTransfer, incomingIn } from '../../chain/incoming-transfer-client.ts';
import { nonceOfReturned, transferNonce } from '../../chain/keys/payment-nonces.ts';
import type { HasUsdc } from '../../chain/usdc-client.ts';
import type { ChainPayment } from './chain-payment.ts';
import type { PaymentPlace } from './chain-payment-store.ts';
import { findFate } from './find-fate.ts';

/** True for a deposit by plain transfer: credited after the fact, it cannot be submitted again. */
export const isPlain = ({ direction, authorization }: ChainPayment): boolean =>
  direction === 'in' && authorization.validBeforeS === 0n;

/** The current block of a settled payment; null when it has none. Its transaction being mined proves nothing: it may have failed there. */
export async function findPlace(ctx: HasUsdc, payment: ChainPayment): Promise<PaymentPlace | null> {
  const { authorization, transactionHash } = payment;
  const isSpent = await ctx.usdc.isSpent(authorization);
  if (isSpent) {
    const fate = await findFate(ctx, payment, payment.createdAt);
    return fate?.kind === 'paid' ? fate.place : null;
  }
  if (!isPlain(payment) || transactionHash === null) return null;
  const mined = await ctx.usdc.findMined([transactionHash]);
  const isThere = mined && incomingIn(mined, payment.token, authorization.to).some((each) => isOf(payment, each));
  return isThere ? { transactionHash: mined.hash, blockNumber: mined.blockNumber, blockHash: mined.blockHash } : null;
}

/** Reversals of one transfer that are looked through: each takes a reorg of its own. */
const MAX_REVERSALS = 8;

/**
 * True if this transfer is the one that the payment credited. As much at another place in the same transaction is another transfer, which is
 * credited by itself: what a contract moves may depend on the block.
 */
function isOf({ chainId, authorization }: ChainPayment, transfer: IncomingTransfer): boolean {
  const { from, valueMicro } = authorization;
  if (transfer.from !== from || transfer.valueMicro !== valueMicro) return false;
  let nonce = transfer.nonce ?? transferNonce(chainId, transfer.transactionHash, transfer.ordinal);
  for (let reversals = 0; nonce !== authorization.nonce; reversals++) {
    if (reversals === MAX_REVERSALS) return false;
    nonce = nonceOfReturned(nonce);
  }
  return true;
}
