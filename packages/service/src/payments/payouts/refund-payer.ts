import type { HasChain } from '../../chain/chain-info.ts';
import type { HasWallet } from '../../chain/keys/node-keys.ts';
import { payoutNonce } from '../../chain/keys/payment-nonces.ts';
import { authorizationDigest } from '../../chain/signatures/authorization.ts';
import type { HasDb } from '../../db/database.ts';
import type { Tx } from '../../db/sql.ts';
import type { HasClock } from '../../lib/clock.ts';
import { newId } from '../../lib/id.ts';
import { OUTGOING, postTransfers } from '../ledger/ledger-store.ts';
import type { ChainPayment, NewChainPayment } from '../onchain/chain-payment.ts';
import { findBySubject, insertChainPayments } from '../onchain/chain-payment-store.ts';
import type { HasPaymentLimits } from '../onchain/payment-limits.ts';
import { sendAfterCommit } from '../settlement/send-payouts.ts';
import { creditRefund, isCredited } from './credit-refund.ts';
import type { Refund, RefundWay } from './refund.ts';

/** Validity of an outgoing authorization; one that expires unused is signed again under the same nonce. */
export const PAYOUT_WINDOW_S = 86_400n;

export type RefundContext = HasChain & HasWallet & HasClock & HasPaymentLimits;

/**
 * Records a refund to a wallet in the caller's transaction: the ledger transfer and the signed payment are stored together, so the refund
 * is committed with the failure. Idempotent: one refund per request and purpose. It is sent right after the commit, and the reconciler
 * makes sure that it arrives. An amount not worth its gas is credited here.
 * Returns the way of the refund.
 */
export async function owePayer(ctx: RefundContext, tx: Tx, refund: Refund): Promise<RefundWay> {
  const now = ctx.clock.now();
  const { purpose = 'refund' } = refund;
  const authorization = {
    from: ctx.wallet.address,
    to: refund.address,
    valueMicro: refund.amountMicro,
    validAfterS: 0n,
    validBeforeS: BigInt(Math.floor(now.getTime() / 1000)) + PAYOUT_WINDOW_S,
    nonce: payoutNonce(ctx.chain.chainId, purpose, refund.requestId),
  };
  const unsigned = {
    id: newId('pay'),
    chainId: ctx.chain.chainId,
    token: ctx.chain.token,
    direction: 'out' as const,
    purpose,
    subjectId: refund.requestId,
    accountId: refund.accountId,
    ledgerAccountId: OUTGOING,
    authorization,
    fingerprint: null,
    x402Version: null,
  };
  const transferId = purpose === 'refund' ? `refund:${refund.requestId}` : `refund:${refund.requestId}:${purpose}`;
  if (await isCredited(ctx, tx, refund, now)) {
    await creditRefund(tx, { ...unsigned, signature: '0x' }, { ...refund, transferId }, now);
    return 'credited';
  }
  const signature = await ctx.wallet.signHash(authorizationDigest(ctx.chain.domainSeparator, authorization));
  const payment: NewChainPayment = { ...unsigned, signature };
  const inserted = await insertChainPayments(tx, [payment], now);
  if (!inserted.has(payment.id)) return 'none';
  await postTransfers(
    tx,
    [
      {
        id: transferId,
        debit: refund.ledgerAccountId,
        credit: OUTGOING,
        amountMicro: refund.amountMicro,
        kind: 'refund',
        subjectId: refund.requestId,
      },
    ],
    now,
  );
  sendAfterCommit(tx, payment.id);
  return 'on_chain';
}

/** The refund of a request to the wallet that paid for it; null: none is owed. */
export const refundOf = (ctx: HasDb, requestId: string): Promise<ChainPayment | null> =>
  findBySubject(ctx.db, requestId, 'refund');
