import { failpoint } from '../../lib/process/failpoint.ts';
import { openPayer, payingWalletOf } from '../ledger/treasury.ts';
import { owePayer } from '../payouts/refund-payer.ts';
import { authorizePayment } from '../x402/authorize-payment.ts';
import { claimPayments } from '../x402/claim-payments.ts';
import type { MeansOf, PaymentScheme, SchemeRefusal } from './scheme.ts';

/**
 * A wallet pays by one transfer that it has signed (x402 scheme `exact`). It is claimed with the acceptance, and settled before the run: the
 * transaction that records the settlement credits the wallet's account, holds the money and begins the request (`book-settled.ts`).
 */
export const exact: PaymentScheme<MeansOf<'exact'>> = {
  id: 'exact',
  fundedAt: 'before_run',
  async authorize(ctx, { shown }, purchase) {
    const payment = await authorizePayment(ctx, shown, purchase);
    return {
      ...{ scheme: 'exact', requestId: payment.subjectId, payment },
      ...{ priceMicro: payment.authorization.valueMicro, payerLedgerId: payment.ledgerAccountId },
    };
  },
  inNameOf: (means, accountId) => ({ ...means, payment: { ...means.payment, accountId } }),
  async prepare(ctx, { payment }) {
    failpoint('before-open-payer');
    await openPayer(ctx, payment.authorization.from, ctx.clock.now());
    failpoint('after-open-payer');
    return null;
  },
  async claim(tx, means, { now }) {
    const payments = means.map(({ payment }) => payment);
    const claimed = await claimPayments(tx, payments, now);
    return new Map(
      payments.flatMap(({ id, subjectId }): [string, SchemeRefusal][] =>
        claimed.has(id) ? [] : [[subjectId, { kind: 'claimed' }]],
      ),
    );
  },
  async refund(ctx, tx, ended) {
    const { id, accountId, paymentHash, payerLedgerId, refundMicro } = ended;
    const address = payingWalletOf(ended);
    // A payment that has not come in is not given back.
    if (address === null || payerLedgerId === null || paymentHash === null) return 'none';
    const refund = { requestId: id, accountId, ledgerAccountId: payerLedgerId, address, amountMicro: refundMicro };
    return owePayer(ctx, tx, refund);
  },
};
