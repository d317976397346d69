import { invariant } from '../../lib/invariant.ts';
import { holdMoney } from '../ledger/hold-money.ts';
import type { MeansOf, PaymentScheme, SchemeRefusal } from './scheme.ts';

/** A balance at this node pays: what a call may cost is held with its acceptance. */
export const treasury: PaymentScheme<MeansOf<'treasury'>> = {
  id: 'treasury',
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
  // The end of its hold has released it.
  refund: async () => 'treasury',
};
