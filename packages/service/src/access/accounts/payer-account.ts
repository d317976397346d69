import type { HasDb } from '../../db/database.ts';
import { newId } from '../../lib/id.ts';
import { ensureAccount } from './account-store.ts';
import { findPayerAccount, isReader, type PayerAccount } from './account-wallet-store.ts';

export type { PayerAccount } from './account-wallet-store.ts';

/** The account that a wallet's payments without an API key belong to; null when it has none yet. */
export const payerAccountOf = (ctx: HasDb, wallet: string): Promise<PayerAccount | null> =>
  findPayerAccount(ctx.db, wallet);

/**
 * Opens the account of a wallet that pays, on the free plan, without any proof of its key: a payment that somebody shows gives no rights to
 * what the account has. Opened before the payment is claimed: a process that dies in between leaves an account without calls.
 */
export async function openPayerAccount(ctx: HasDb, wallet: string, now: Date): Promise<PayerAccount> {
  const accountId = await ensureAccount(ctx.db, { id: newId('acc'), address: wallet, now });
  return (await payerAccountOf(ctx, wallet)) ?? { accountId, plan: 'free', isSuspended: false };
}

/** True if a wallet that has signed in may read a request of an account: of its own account, or one that it has paid for itself. */
export const mayRead = (
  ctx: HasDb,
  request: { readonly address: string; readonly accountId: string; readonly hasPaid: boolean },
): Promise<boolean> => isReader(ctx.db, request);
