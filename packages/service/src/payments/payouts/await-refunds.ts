import type { HasChain } from '../../chain/chain-info.ts';
import { payoutNonce } from '../../chain/node-wallet.ts';
import { takeTransfer } from '../../chain/transfer-point-store.ts';
import type { HasDb } from '../../db/database.ts';
import type { Tx } from '../../db/sql.ts';
import { newId } from '../../lib/id.ts';
import { invariant } from '../../lib/invariant.ts';
import { creditTransfers } from '../deposits/credit-transfers.ts';
import { payerAddressOf } from '../ledger/treasury.ts';
import { type AwaitedRefund, insertAwaited, listArrived } from '../onchain/awaited-refund-store.ts';
import type { ChainContext } from '../onchain/chain-context.ts';
import type { NewChainPayment } from '../onchain/chain-payment.ts';
import { findBySubject, insertChainPayments } from '../onchain/chain-payment-store.ts';
import { settlePayment } from '../onchain/end-payments.ts';
import { PAYOUT_WINDOW_S } from './refund-payer.ts';

/**
 * Notes, in the transaction that signs what a node is paid for a request, how its refunds of it will be known: by its wallet, and by
 * nonces that follow from the id that the request has there (`payoutNonce`). False when another request waits for the same ones: the
 * node gave an id twice, and its refunds could not be told apart.
 */
export async function awaitRefunds(
  ctx: HasChain,
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
  return (await insertAwaited(tx, chainId, refunds)) === refunds.length;
}

const MAX_AT_ONCE = 200;

export const arrivedRefunds = (ctx: HasDb & HasChain): Promise<AwaitedRefund[]> =>
  listArrived(ctx.db, ctx.chain.chainId, MAX_AT_ONCE);

export interface ReturnTo {
  readonly accountId: string;
  /** The ledger account that paid. */
  readonly payerLedgerId: string;
  /** The most that can come back. */
  readonly mostMicro: bigint;
}

/**
 * Books a refund that came from another node to whoever paid, in the caller's transaction, which has locked the request. Returns how
 * much came back: nothing while the bill is still open, which has to be paid before it can be refunded; nor for a transfer that is
 * more than was paid, or for nothing that was (`to` is null), which is a deposit of its sender's. `beforeLedger` notes what is locked before the ledger is.
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
  const transfer = await takeTransfer(tx, chainId, awaited);
  if (!transfer) return 0n;
  const { from, nonce, valueMicro } = transfer;
  if (to === null || bill?.state !== 'settled' || valueMicro > to.mostMicro) {
    ctx.log.warn({ requestId, from, nonce }, 'what came as a refund is none: it is credited to its sender');
    await creditTransfers(ctx, tx, [transfer]);
    return 0n;
  }
  await beforeLedger(valueMicro);
  const now = ctx.clock.now();
  // Whoever sent it may sign it anew under its nonce for a day: so long it is looked for, should a reorg take its block.
  const validBeforeS = BigInt(Math.floor(now.getTime() / 1000)) + PAYOUT_WINDOW_S;
  const payment: NewChainPayment = {
    id: newId('pay'),
    ...{ chainId, token, direction: 'in', purpose, subjectId: requestId },
    // A wallet hears of its refund when that has been sent on to it.
    accountId: payerAddressOf(to.payerLedgerId) === null ? to.accountId : null,
    ledgerAccountId: to.payerLedgerId,
    authorization: { from, to: wallet, valueMicro, validAfterS: 0n, validBeforeS, nonce },
    ...{ signature: '0x', fingerprint: null, x402Version: null },
  };
  const inserted = await insertChainPayments(tx, [payment], now);
  invariant(inserted.has(payment.id), 'a refund comes once');
  await settlePayment(tx, payment, transfer, now);
  return valueMicro;
}
