import type { Plan } from '@agent-network/contracts/access/access';
import { newId } from '../lib/id.ts';
import type { Store } from '../store/database.ts';
import type { Tx } from '../store/sql.ts';
import { ensureAccount, findNodeAccount, saveAccount } from './account-store.ts';

/** Opens the account of a wallet, or sets the plan of the existing one. `isWalletProven`: the requester has proven the key. */
export async function openAccount(
  ctx: Store,
  wallet: { address: string; plan: Plan; isWalletProven: boolean },
): Promise<{ accountId: string; address: string }> {
  const address = wallet.address.toLowerCase();
  const now = ctx.clock.now();
  const walletProvenAt = wallet.isWalletProven ? now : null;
  const { accountId } = await saveAccount(ctx.db, {
    id: newId('acc'),
    address,
    plan: wallet.plan,
    walletProvenAt,
    now,
  });
  return { accountId, address };
}

/** The account of a wallet, in the caller's transaction; a new one, on the free plan and not proven, when there is none. */
export const accountOfWallet = (tx: Tx, address: string, now: Date): Promise<string> =>
  ensureAccount(tx, { id: newId('acc'), address: address.toLowerCase(), now });

/** The account of a wallet that has signed in as the node at this address; null: none. */
export const accountOfNode = (tx: Tx, wallet: string, baseUrl: string): Promise<string | null> =>
  findNodeAccount(tx, wallet, baseUrl);
