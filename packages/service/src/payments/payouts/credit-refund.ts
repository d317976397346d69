import { holdAccountsOfWallets } from '../../access/accounts/link-wallet.ts';
import { isListedNode } from '../../access/accounts/listed-node.ts';
import type { Tx } from '../../db/sql.ts';
import { DAY_MS } from '../../lib/duration.ts';
import { openSuspense } from '../deposits/suspense.ts';
import { postTransfers } from '../ledger/ledger-store.ts';
import { openTreasury } from '../ledger/open-treasury.ts';
import type { NewChainPayment } from '../onchain/chain-payment.ts';
import { insertChainPayments, nowhere } from '../onchain/chain-payment-store.ts';
import { endPayments } from '../onchain/end-payments.ts';
import type { HasPaymentLimits } from '../onchain/payment-limits.ts';
import type { Refund } from './refund.ts';
import { countRefundsSent } from './refund-store.ts';

/**
 * True if a refund is credited here instead of sent: it is worth less than its gas, or the payer has reached the daily number of refunds on
 * chain. Refunds to other nodes are always sent, as they look for them on chain.
 */
export async function isCredited(
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
export async function creditRefund(
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
