import type { Tx } from '../../db/sql.ts';
import { markWalletProven } from './account-store.ts';

/** Records in the caller's transaction that the account has proven its wallet; the first time stays. */
export const proveAccount = (tx: Tx, accountId: string, now: Date): Promise<void> =>
  markWalletProven(tx, accountId, now);
