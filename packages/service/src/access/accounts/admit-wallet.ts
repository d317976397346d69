import type { Tx } from '../../db/sql.ts';
import { AppError } from '../../lib/app-error.ts';
import { newId } from '../../lib/id.ts';
import { openProvenAccount, writeNodeUrl } from './account-store.ts';
import { accountsOfWallets } from './link-wallet.ts';

/**
 * The account of a wallet that has just shown to hold its key, in the caller's transaction; a new one, plan free, when it has none.
 * Throws CONFLICT for a wallet that an account of another wallet has claimed: its keys are that account's to give.
 */
export async function admitWallet(tx: Tx, address: string, now: Date): Promise<string> {
  const known = (await accountsOfWallets(tx, [address])).get(address);
  const accountId = await openProvenAccount(tx, { id: newId('acc'), address, plan: 'free', now });
  if (known !== undefined && known !== accountId)
    throw new AppError('CONFLICT', 'This wallet was claimed by an account of another wallet; sign in with that one.');
  return accountId;
}

/** Notes in the caller's transaction, in which the account's wallet was proven, as which node it signed in. */
export const noteNode = (tx: Tx, accountId: string, baseUrl: string): Promise<void> =>
  writeNodeUrl(tx, accountId, baseUrl);
