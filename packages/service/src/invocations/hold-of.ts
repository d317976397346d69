import { type HoldRequest, holdExpiryOf } from '../payments/ledger/hold.ts';
import type { Invocation } from './invocation.ts';

type Paid = Pick<Invocation, 'id' | 'payerLedgerId' | 'priceMicro' | 'deadline'>;

/** The holds for requests; none for free ones. */
export const holdsOf = (requests: readonly Paid[]): HoldRequest[] =>
  requests.flatMap(({ id, payerLedgerId, priceMicro, deadline }) =>
    payerLedgerId === null
      ? []
      : [{ id, ledgerAccountId: payerLedgerId, amountMicro: priceMicro, expiresAt: holdExpiryOf(deadline) }],
  );
