import { invariant } from '../../lib/invariant.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import type { NewChainPayment } from '../chain-outbox/chain-payment.ts';
import { holdMoney, holdsPlacedFree } from '../ledger/hold-money.ts';
import { type SchemeId, schemeIds } from '../ledger/scheme-id.ts';
import { openPayer, payingWalletOf } from '../ledger/treasury.ts';
import { owePayer } from '../payouts/refund-payer.ts';
import type { PresentedPayment } from '../x402/presented-payment.ts';
import type { X402Scheme } from '../x402/x402-scheme.ts';
import { batchSettlement } from './batch-settlement/batch-settlement.ts';
import { authorizePayment, isFreshlySigned } from './exact/authorize-payment.ts';
import { claimPayments, paymentsClaimed } from './exact/claim-payments.ts';
import { exactOnWire, isTransfer } from './exact/exact-on-wire.ts';
import type { Means, PaymentScheme, SchemeRefusal } from './scheme.ts';

/**
 * A wallet pays by one transfer that it has signed (x402 scheme `exact`). It is claimed with the acceptance, and settled before the run: the
 * transaction that records the settlement credits the wallet's account, holds the money and begins the request (`book-settled.ts`).
 */
const exact: PaymentScheme<Means<'exact'> & { readonly payment: NewChainPayment }> = {
  id: 'exact',
  onWire: exactOnWire,
  fundedAt: 'before_run',
  async authorize(ctx, { shown }, purchase) {
    const payment = await authorizePayment(ctx, shown, purchase);
    return {
      ...{ scheme: 'exact', requestId: payment.subjectId, payment },
      ...{ priceMicro: payment.authorization.valueMicro, payerLedgerId: payment.ledgerAccountId },
    };
  },
  isPrivate: async (ctx, shown) => isTransfer(shown) && isFreshlySigned(ctx, shown),
  inNameOf: (means, accountId) => ({ ...means, payment: { ...means.payment, accountId } }),
  async open(ctx, { payment }) {
    failpoint('before-open-payer');
    const { ledgerAccountId: id, authorization } = payment;
    await openPayer(ctx, { id, address: authorization.from }, ctx.clock.now());
    failpoint('after-open-payer');
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
  claimAll: (means, now) => [
    ...paymentsClaimed(
      means.map(({ payment }) => payment),
      now,
    ),
    ...means.flatMap(({ carrier }) => carrier?.stored(now) ?? []),
  ],
  async refund(ctx, tx, ended) {
    const { id, accountId, paymentHash, payerLedgerId, refundMicro } = ended;
    const address = payingWalletOf(ended);
    // A payment that has not come in is not given back.
    if (address === null || payerLedgerId === null || paymentHash === null) return 'none';
    const refund = { requestId: id, accountId, ledgerAccountId: payerLedgerId, address, amountMicro: refundMicro };
    return owePayer(ctx, tx, refund);
  },
};

/** Pays from a balance at this node. The maximum cost of a call is held when it is accepted. */
const treasury: PaymentScheme<Means<'treasury'>> = {
  id: 'treasury',
  onWire: null,
  fundedAt: 'reserve',
  async authorize(_ctx, { treasuryId }, { due }) {
    invariant(treasuryId !== null, 'who pays from a treasury has one');
    return { scheme: 'treasury', requestId: null, priceMicro: due.amountMicro, payerLedgerId: treasuryId };
  },
  async hold(tx, holds, { now, locks }) {
    const answers = await holdMoney(tx, holds, now, locks);
    return new Map(
      holds.flatMap(({ id }, index): [string, SchemeRefusal][] => {
        const answer = answers[index];
        if (!answer || answer.isHeld) return [];
        return [[id, { kind: 'insufficient', availableMicro: answer.availableMicro }]];
      }),
    );
  },
  holdAll: holdsPlacedFree,
  // The end of its hold has released it.
  refund: async () => 'treasury',
};

const byId: Readonly<Record<SchemeId, PaymentScheme>> = { exact, 'batch-settlement': batchSettlement, treasury };

/** The schemes in the order in which one transaction locks their rows. */
export const schemes: readonly PaymentScheme[] = schemeIds.map((id) => byId[id]);

/** Schemes of x402, in the order of a 402. */
export const x402Schemes: readonly X402Scheme[] = schemes.flatMap(({ onWire }) => onWire ?? []);

export const schemeOf = ({ scheme }: { readonly scheme: SchemeId }): PaymentScheme => byId[scheme];

/** The scheme that a presented payment is of; without one, the first of x402, which answers with the terms of all. */
export const schemeOfPresented = (shown: PresentedPayment | null): PaymentScheme => byId[shown?.scheme ?? 'exact'];

/** The items that the scheme pays for. */
export const paidBy = <T extends { readonly scheme: Means['scheme'] | null }>(
  items: readonly T[],
  { id }: PaymentScheme,
): T[] => items.filter(({ scheme }) => scheme === id);
