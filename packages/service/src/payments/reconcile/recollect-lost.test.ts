import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ChainPayment } from '../chain-outbox/chain-payment.ts';
import { reversalOf } from './recollect-lost.ts';

it('a reversal takes the whole amount back, from the account no more than it has, and the rest from the loss', () => {
  fc.assert(
    fc.property(fc.bigInt(1n, 10n ** 12n), fc.bigInt(0n, 10n ** 12n), (valueMicro, availableMicro) => {
      const payment = { id: 'pay_1', subjectId: 'trf_1', ledgerAccountId: 'payer:0x1', authorization: { valueMicro } };
      const transfers = reversalOf(payment as ChainPayment, availableMicro);
      const of = (debit: string) => transfers.find((transfer) => transfer.debit === debit)?.amountMicro ?? 0n;
      expect(of('payer:0x1') + of('loss')).toBe(valueMicro);
      expect(of('payer:0x1') <= availableMicro).toBe(true);
      expect(of('loss') === 0n || of('payer:0x1') === availableMicro).toBe(true);
      expect(transfers.every(({ credit, amountMicro }) => credit === 'wallet' && amountMicro > 0n)).toBe(true);
    }),
  );
});
