import type { HasDb } from '../../db/database.ts';
import { createBatcher } from '../../lib/concurrency/batcher.ts';
import type { ChainPayment } from '../onchain/chain-payment.ts';
import { findByNames, type PaymentNames } from '../onchain/chain-payment-store.ts';

/** Finds the payments of concurrent requests with one query. */
export interface PaymentFinder {
  find(names: PaymentNames): Promise<ChainPayment | null>;
}

export interface HasPaymentFinder {
  readonly paymentFinder: PaymentFinder;
}

const MAX_FOUND = 200;

export function createPaymentFinder(ctx: HasDb): PaymentFinder {
  const batcher = createBatcher<PaymentNames, ChainPayment | null>({
    maxSize: MAX_FOUND,
    run: (names) => findByNames(ctx.db, names),
  });
  return { find: (names) => batcher.add(names) };
}
