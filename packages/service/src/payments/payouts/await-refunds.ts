import { takeTransfer } from '../../chain/blocks/transfer-point-store.ts';
import type { NodeIdentity } from '../../chain/chain-info.ts';
import { payoutNonce } from '../../chain/keys/payment-nonces.ts';
import { newId } from '../../lib/id.ts';
import { invariant } from '../../lib/invariant.ts';
import type { Store } from '../../store/database.ts';
import type { Tx } from '../../store/sql.ts';
import { type AwaitedRefund, insertAwaited, listArrived } from '../chain-outbox/awaited-refund-store.ts';
import type { ChainContext } from '../chain-outbox/chain-context.ts';
import type { NewChainPayment } from '../chain-outbox/chain-payment.ts';
import { findBySubject, insertChainPayments } from '../chain-outbox/chain-payment-store.ts';
import { settlePayment } from '../chain-outbox/end-payments.ts';
import { creditTransfers } from '../deposits/credit-transfers.ts';
import { returnWalletOf } from '../ledger/treasury.ts';
import { PAYOUT_WINDOW_S } from '../settlement/sign-payout.ts';

/**
 * Records how to recognize refunds of a request from another node, in the transaction that signs that node's payment: by its wallet, and by
 * nonces derived from the id that the request has there (`payoutNonce`). Returns false when another request expects the same nonces: that
 * node issued an id twice, and the refunds would be ambiguous.
 */
export async function awaitRefunds(
  ctx: NodeIdentity,
  tx: Tx,
  { requestId, from, homeRequestId }: { requestId: string; from: string; homeRequestId: string },
): Promise<boolean> {
  const { chainId } = ctx.chain;
  const refunds = (['refund', 'return'] as const).map((purpose) => ({
    from,
    nonce: payoutNonce(chainId, purpose, homeRequestId),
    requestId,
    purpose: `home_${purpose}` as const,
  }));
  return (await insertAwaited(tx, ctx.chain, refunds)) === refunds.length;
}

const MAX_AT_ONCE = 200;

export const arrivedRefunds = (ctx: Store & Pick<NodeIdentity, 'chain'>): Promise<AwaitedRefund[]> =>
  listArrived(ctx.db, ctx.chain, MAX_AT_ONCE);

export interface ReturnTo {
  readonly accountId: string;
  /** The payer's ledger account. */
  readonly payerLedgerId: string;
  /** Maximum amount that can come back. */
  readonly maxMicro: bigint;
}

/**
 * Books a refund from another node to the payer, in the caller's transaction, which has locked the request. Returns the amount booked: zero
 * while the bill is still open, because it has to be paid before it can be refunded, and zero for a transfer that exceeds the payment or
 * has no payment (`to` is null), which is booked as a deposit of its sender. `beforeLedger` records rows that must be locked before the
 * ledger.
 */
export async function bookRefund(
  ctx: ChainContext,
  tx: Tx,
  awaited: AwaitedRefund,
  to: ReturnTo | null,
  beforeLedger: (amountMicro: bigint) => Promise<void>,
): Promise<bigint> {
  const { chainId, token, wallet } = ctx.chain;
  const { requestId, purpose } = awaited;
  const bill = await findBySubject(tx, requestId, 'bill');
  if (bill?.state === 'claimed' || bill?.state === 'broadcasting') return 0n;
  const transfer = await takeTransfer(tx, ctx.chain, awaited);
  if (!transfer) return 0n;
  const { from, nonce, valueMicro } = transfer;
  if (to === null || bill?.state !== 'settled' || valueMicro > to.maxMicro) {
    ctx.log.warn({ requestId, from, nonce }, 'transfer does not match its awaited refund; crediting it to its sender');
    await creditTransfers(ctx, tx, [transfer]);
    return 0n;
  }
  await beforeLedger(valueMicro);
  const now = ctx.clock.now();
  // The sender may sign it again under its nonce for a day; it is watched that long in case a reorg removes its block.
  const validBeforeS = BigInt(Math.floor(now.getTime() / 1000)) + PAYOUT_WINDOW_S;
  const payment: NewChainPayment = {
    id: newId('pay'),
    ...{ chainId, token, direction: 'in', purpose, subjectId: requestId },
    // A wallet is notified when its refund has been forwarded to it.
    accountId: (await returnWalletOf(tx, to.payerLedgerId)) === null ? to.accountId : null,
    ledgerAccountId: to.payerLedgerId,
    authorization: { from, to: wallet, valueMicro, validAfterS: 0n, validBeforeS, nonce },
    ...{ signature: '0x', fingerprint: null, x402Version: null },
  };
  const inserted = await insertChainPayments(tx, [payment], now);
  invariant(inserted.has(payment.id), 'a refund comes once');
  await settlePayment(tx, payment, transfer, now);
  return valueMicro;
}
