import { holdAccountsOfWallets } from '../../access/accounts/link-wallet.ts';
import { isListedNode } from '../../access/accounts/listed-node.ts';
import type { HasChain } from '../../chain/chain-info.ts';
import type { HasWallet } from '../../chain/keys/node-keys.ts';
import { payoutNonce } from '../../chain/keys/payment-nonces.ts';
import { authorizationDigest } from '../../chain/signatures/authorization.ts';
import type { HasDb } from '../../db/database.ts';
import type { Tx } from '../../db/sql.ts';
import type { HasClock } from '../../lib/clock.ts';
import { DAY_MS } from '../../lib/duration.ts';
import { newId } from '../../lib/id.ts';
import { openSuspense } from '../deposits/suspense.ts';
import { OUTGOING, postTransfers } from '../ledger/ledger-store.ts';
import { openTreasury } from '../ledger/open-treasury.ts';
import type { ChainPayment, NewChainPayment } from '../onchain/chain-payment.ts';
import { findBySubject, insertChainPayments, nowhere } from '../onchain/chain-payment-store.ts';
import { endPayments } from '../onchain/end-payments.ts';
import type { HasPaymentLimits } from '../onchain/payment-limits.ts';
import { sendAfterCommit } from '../settlement/send-payouts.ts';
import type { Refund, RefundWay } from './refund.ts';
import { countRefundsSent } from './refund-store.ts';

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

/**
 * True if a refund is credited here instead of sent: it is worth less than its gas, or the payer has reached the daily number of refunds on
 * chain. Refunds to other nodes are always sent, as they look for them on chain.
 */
async function isCredited(
  { paymentLimits }: HasPaymentLimits,
  tx: Tx,
  { amountMicro, accountId, address }: Refund,
  now: Date,
): Promise<boolean> {
  const { minRefundMicro, refundsPerDay } = paymentLimits;
  const since = new Date(now.getTime() - DAY_MS);
  const isDue =
    amountMicro < minRefundMicro || (await countRefundsSent(tx, { address, accountId, since })) >= refundsPerDay;
  return isDue && !(await isListedNode(tx, accountId, address));
}

/**
 * Credits a refund here, once, in the caller's transaction: to the treasury of the account that has proven the paying wallet, otherwise to
 * suspense, where its owner can claim it. `payment` has no signature, so it can never be submitted on chain.
 */
async function creditRefund(
  tx: Tx,
  payment: NewChainPayment,
  refund: Refund & { transferId: string },
  now: Date,
): Promise<void> {
  if (!(await insertChainPayments(tx, [payment], now)).has(payment.id)) return;
  const { address, requestId, amountMicro, ledgerAccountId, transferId } = refund;
  const ownerId = (await holdAccountsOfWallets(tx, [address])).get(address);
  const credit = ownerId === undefined ? await openSuspense(tx, address, now) : await openTreasury(tx, ownerId, now);
  await endPayments(tx, [payment], [{ id: payment.id, state: 'settled', reason: null, ...nowhere }], now);
  await postTransfers(
    tx,
    [{ id: transferId, debit: ledgerAccountId, credit, amountMicro, kind: 'refund', subjectId: requestId }],
    now,
  );
}
