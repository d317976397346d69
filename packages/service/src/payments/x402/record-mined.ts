import type { HasDb } from '../../db/database.ts';
import type { HasClock } from '../../lib/clock.ts';
import { type NewTransfer, OUTGOING, postTransfers, WALLET } from '../ledger-store.ts';
import type { NewChainPayment } from './chain-payment.ts';
import type { PaymentEnd } from './chain-payment-store.ts';
import type { RefusalReason } from './check-payment.ts';
import { endPayments } from './end-payments.ts';
import { markMined } from './transaction-store.ts';
import { authorizationKey, type HasUsdc, type MinedTransaction, type UsedAuthorization } from './usdc-client.ts';

export type SettleOutcome =
  | { readonly state: 'settled'; readonly transactionHash: string }
  | { readonly state: 'failed'; readonly reason: RefusalReason }
  | { readonly state: 'unknown'; readonly transactionHash: string | null };

/** How far back a use of an authorization is looked for: no payment window is longer than this many blocks. */
const SEARCH_BLOCKS = 5_000n;

/**
 * Ends the payments that a mined transaction carried, by its logs; what it did not move may have been moved by another. Left open,
 * as `unknown`: a payment that failed in company, as its company may be to blame; and what the node owes, as that never lapses.
 */
export async function recordMined(
  ctx: HasDb & HasClock & HasUsdc,
  payments: readonly NewChainPayment[],
  hash: string,
  mined: MinedTransaction,
): Promise<SettleOutcome[]> {
  const uses = new Map<string, UsedAuthorization>();
  const unmoved: NewChainPayment[] = [];
  for (const payment of payments) {
    const use = mined.used.get(authorizationKey(payment.authorization));
    if (use) uses.set(payment.id, use);
    else unmoved.push(payment);
  }
  const elsewhere = await findElsewhere(ctx, unmoved, mined.blockNumber);
  for (const [id, use] of elsewhere) if (use) uses.set(id, use);
  const outcomes = payments.map((payment): SettleOutcome => {
    const use = uses.get(payment.id);
    if (use) return { state: 'settled', transactionHash: use.transactionHash };
    if (elsewhere.has(payment.id)) return { state: 'failed', reason: 'invalid_exact_evm_nonce_already_used' };
    if (payments.length > 1 || payment.direction === 'out') return { state: 'unknown', transactionHash: hash };
    return { state: 'failed', reason: 'invalid_exact_evm_transaction_failed' };
  });
  await commit(ctx, payments, outcomes, uses, { hash, mined });
  return outcomes;
}

/** For authorizations that are spent although our transaction did not move them: the use, or null when there was none. */
async function findElsewhere(ctx: HasUsdc, payments: readonly NewChainPayment[], block: bigint) {
  const found = new Map<string, UsedAuthorization | null>();
  if (payments.length === 0) return found;
  const spent = await ctx.usdc.areSpent(payments.map((p) => p.authorization));
  for (const [index, payment] of payments.entries()) {
    if (!spent[index]) continue;
    found.set(payment.id, await findUseOf(ctx, payment, block));
  }
  return found;
}

/** The transfer that spent the authorization of a payment, if it went where the payment says. */
export async function findUseOf(
  ctx: HasUsdc,
  payment: NewChainPayment,
  head: bigint,
): Promise<UsedAuthorization | null> {
  const { authorization } = payment;
  const use = await ctx.usdc.findUse(authorization, head > SEARCH_BLOCKS ? head - SEARCH_BLOCKS : 0n);
  return use?.to === authorization.to && use.valueMicro === authorization.valueMicro ? use : null;
}

async function commit(
  ctx: HasDb & HasClock,
  payments: readonly NewChainPayment[],
  outcomes: readonly SettleOutcome[],
  uses: ReadonlyMap<string, UsedAuthorization>,
  { hash, mined }: { hash: string; mined: MinedTransaction },
): Promise<void> {
  const now = ctx.clock.now();
  const ends = payments.flatMap(({ id }, index): PaymentEnd[] => {
    const outcome = outcomes[index];
    const use = uses.get(id);
    if (use) return [{ id, state: 'settled', reason: null, ...use }];
    if (outcome?.state !== 'failed') return [];
    return [{ id, state: 'failed', reason: outcome.reason, transactionHash: null, blockNumber: null }];
  });
  await ctx.db.transaction(async (tx) => {
    await markMined(tx, hash, { number: mined.blockNumber, atS: mined.minedAtS });
    const ended = await endPayments(tx, payments, ends, now);
    const settled = payments.filter((p) => ended.has(p.id) && uses.has(p.id));
    await postTransfers(tx, settled.map(toTransfer), now);
  });
}

/** What a settled payment is in the ledger: money into the wallet and owed to its account, or a debt paid out of the wallet. */
export const toTransfer = (payment: NewChainPayment): NewTransfer =>
  payment.direction === 'in'
    ? {
        id: `deposit:${payment.id}`,
        debit: WALLET,
        credit: payment.ledgerAccountId,
        amountMicro: payment.authorization.valueMicro,
        kind: 'deposit',
        subjectId: payment.subjectId,
      }
    : {
        id: `payout:${payment.id}`,
        debit: OUTGOING,
        credit: WALLET,
        amountMicro: payment.authorization.valueMicro,
        kind: 'payout',
        subjectId: payment.subjectId,
      };
