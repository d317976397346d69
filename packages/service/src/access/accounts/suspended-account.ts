import type { Sql, Tx } from '../../db/sql.ts';
import { findAccount, isSuspended } from './account-store.ts';

/** True while the operator suspends the account, as of this moment of the transaction. */
export const isAccountSuspended = (tx: Tx, accountId: string): Promise<boolean> => isSuspended(tx, accountId);

export interface Suspension {
  readonly at: Date;
  /** As the operator gave it. */
  readonly reason: string;
}

/** The suspension of an account as its owner is told; null: there is none. */
export async function suspensionOf(sql: Sql, accountId: string): Promise<Suspension | null> {
  const account = await findAccount(sql, accountId);
  return account?.suspendedAt ? { at: account.suspendedAt, reason: account.suspendedReason ?? '' } : null;
}
