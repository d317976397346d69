import { payoutNonce } from '../../chain/keys/payment-nonces.ts';
import { isOpen } from '../../payments/chain-outbox/chain-payment-state.ts';
import { refundOf } from '../../payments/payouts/refund-payer.ts';
import type { RequestPayout, RequestPayouts } from '../../payments/reconcile/explain-payouts.ts';
import { paymentOf } from '../../payments/schemes/exact/claim-payments.ts';
import { endSpent } from '../../payments/settlement/end-spent.ts';
import type { CallServices } from '../call-services.ts';
import { hasEnded } from '../invocation.ts';
import { findInvocation } from '../invocation-store.ts';
import { listPayingRequests } from './request-payout-store.ts';

type Needs = Pick<CallServices, 'finisher'> & Parameters<typeof endSpent>[0];

const purposes = ['refund', 'return', 'second_return', 'bill'] as const;

const message = 'It was refunded on chain before the database of this node was restored.';

/**
 * Matches requests of the books with payouts on chain that are not in the books. A refunded request ends as failed before its agent is
 * called again; that failure does not count in reputation. Its refund has the nonce of the earlier one, so nothing is paid twice.
 */
export const createRequestPayouts = (ctx: Needs): RequestPayouts => ({
  async find(nonces, since) {
    const found = new Map<string, RequestPayout>();
    if (nonces.length === 0) return found;
    const wanted = new Set(nonces);
    for (const requestId of await listPayingRequests(ctx.db, since))
      for (const purpose of purposes) {
        const nonce = payoutNonce(ctx.chain.chainId, purpose, requestId);
        if (wanted.has(nonce)) found.set(nonce, { requestId, purpose });
      }
    return found;
  },
  async end(requestId) {
    const payment = await paymentOf(ctx, requestId);
    if (payment && isOpen(payment.state)) await endSpent(ctx, payment);
    const paid = await paymentOf(ctx, requestId);
    // Its block is not deep enough: ended now, the request would owe no refund.
    if (paid && isOpen(paid.state)) return;
    const found = await findInvocation(ctx.db, requestId);
    // One that had not begun has no hash yet, without which nothing counts as paid.
    const paymentHash = found?.paymentHash ?? (paid?.state === 'settled' ? paid.transactionHash : null);
    const invocation = found && { ...found, paymentHash };
    if (invocation && !hasEnded(invocation.status))
      await ctx.finisher.finish({ invocation, outcome: { kind: 'failed', reason: 'node_restored', message } });
    const refund = await refundOf(ctx, requestId);
    if (refund && isOpen(refund.state)) await endSpent(ctx, refund);
  },
});
