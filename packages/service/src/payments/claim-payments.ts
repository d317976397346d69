import type { HasDb } from '../db/database.ts';
import type { Tx } from '../db/sql.ts';
import type { ChainPayment, NewChainPayment } from './x402/chain-payment.ts';
import { findBySubject, insertChainPayments } from './x402/chain-payment-store.ts';

/** Claims payments in the caller's transaction; returns the ids of those that nobody had before. */
export const claimPayments = async (tx: Tx, payments: readonly NewChainPayment[], now: Date): Promise<Set<string>> =>
  payments.length === 0 ? new Set() : insertChainPayments(tx, payments, now);

/** The x402 payment of a request, whatever became of it. */
export const paymentOf = (ctx: HasDb, requestId: string): Promise<ChainPayment | null> =>
  findBySubject(ctx.db, requestId, 'invocation');
