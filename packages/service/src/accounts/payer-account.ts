import { createHash } from 'node:crypto';
import { newId } from '../lib/id.ts';
import type { Store } from '../store/database.ts';
import { accountIdsOf, ensureAccount } from './account-store.ts';
import { findPayerAccount, isReader, type PayerAccount } from './account-wallet-store.ts';

export type { PayerAccount } from './account-wallet-store.ts';

/** The account that a wallet's payments without an API key belong to; null when it has none yet. */
export const payerAccountOf = (ctx: Store, wallet: string): Promise<PayerAccount | null> =>
  findPayerAccount(ctx.db, wallet);

/**
 * Opens the account of a paying wallet, on the free plan, without a proof of its key: presenting a payment gives no rights to the account's
 * data. It is opened before the payment is claimed, so a process that dies in between leaves an account without calls.
 */
export async function openPayerAccount(ctx: Store, wallet: string, now: Date): Promise<PayerAccount> {
  const accountId = await ensureAccount(ctx.db, { id: newId('acc'), address: wallet, now });
  return (await payerAccountOf(ctx, wallet)) ?? { accountId, plan: 'free', isSuspended: false };
}

/** True if a wallet that has signed in may read a request of an account: of its own account, or one that it has paid for itself. */
export const mayRead = (
  ctx: Store,
  request: { readonly address: string; readonly accountId: string; readonly hasPaid: boolean },
): Promise<boolean> => isReader(ctx.db, request);

/** Visitors share this many accounts, so that their number is bounded, and one who uses a limit up is in the way of few. */
const ACCOUNTS = 64;

/** Addresses of the accounts that visitors share: hashes that are not wallet addresses, so signing in to them is impossible. */
export const visitorAddresses: readonly string[] = Array.from({ length: ACCOUNTS }, (_, number) => {
  const hash = createHash('sha256').update(`agent-network visitors ${number}`).digest('hex');
  return `0x${hash.slice(0, 40)}`;
});

/** Ids of the accounts that visitors share, as far as there are any yet. */
export const visitorAccountIds = ({ db }: Store): Promise<string[]> => accountIdsOf(db, visitorAddresses);
