import type { Tx } from '../../db/sql.ts';
import { isSuspended } from './account-store.ts';

/** True while the operator suspends the account, as of this moment of the transaction. */
export const isAccountSuspended = (tx: Tx, accountId: string): Promise<boolean> => isSuspended(tx, accountId);
