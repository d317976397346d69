import { AppError } from '../lib/app-error.ts';
import { newId } from '../lib/id.ts';
import type { Tx } from '../store/sql.ts';
import { findUnproven, markWalletProven, openProvenAccount, writeNodeUrl } from './account-store.ts';
import { lockWalletOwner } from './account-wallet-store.ts';
import { accountsOfWallets } from './link-wallet.ts';

/** Effects of a wallet's proof on its agents and money, in the transaction of the proof. */
export interface OwnerProofs {
  /** Records the first proof of an account's wallet at the agents that the account has already. */
  record(tx: Tx, accountId: string, now: Date): Promise<void>;
  /** Moves the wallet's money in suspense into its account's treasury, which is opened if there is any. */
  credit(
    tx: Tx,
    proof: { readonly claimId: string; readonly address: string; readonly accountId: string; readonly now: Date },
  ): Promise<void>;
}

/**
 * The account of a wallet that has just proven its key, in the caller's transaction; a new one, on the free plan, when there is none.
 * Throws CONFLICT for a wallet that is linked to another wallet's account: only that account issues keys for it.
 */
export async function admitWallet(
  { ownerProofs }: { readonly ownerProofs: OwnerProofs },
  tx: Tx,
  address: string,
  now: Date,
): Promise<string> {
  await lockWalletOwner(tx, address);
  const known = (await accountsOfWallets(tx, [address])).get(address);
  const unproven = await findUnproven(tx, address);
  if (unproven !== null) await ownerProofs.record(tx, unproven, now);
  const accountId = await openProvenAccount(tx, { id: newId('acc'), address, plan: 'free', now });
  if (known !== undefined && known !== accountId)
    throw new AppError('CONFLICT', 'This wallet is linked to the account of another wallet; sign in with that wallet.');
  return accountId;
}

/** Records the node that the account signed in as, in the transaction that proved its wallet. */
export const recordNode = (tx: Tx, accountId: string, baseUrl: string): Promise<void> =>
  writeNodeUrl(tx, accountId, baseUrl);

/** Records in the caller's transaction that the account has proven its wallet; the first time stays. */
export const proveAccount = (tx: Tx, accountId: string, now: Date): Promise<void> =>
  markWalletProven(tx, accountId, now);
