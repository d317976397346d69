import { holdExpiryOf, type RequestHold } from '../payments/ledger/hold.ts';
import type { Invocation } from './invocation.ts';

type Paid = Pick<Invocation, 'id' | 'scheme' | 'payerLedgerId' | 'priceMicro' | 'deadline'>;

/** The holds for requests; none for free ones. */
export const holdsOf = (requests: readonly Paid[]): RequestHold[] =>
  requests.flatMap(({ id, scheme, payerLedgerId, priceMicro, deadline }) =>
    scheme === null || payerLedgerId === null
      ? []
      : [{ id, scheme, ledgerAccountId: payerLedgerId, amountMicro: priceMicro, expiresAt: holdExpiryOf(deadline) }],
  );
