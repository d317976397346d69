import type { Sql } from '../store/sql.ts';
import { listOperatorAccounts } from './operator-store.ts';

/** The operators' accounts: those with a valid key with the scope `operator`. */
export const operatorAccounts = (sql: Sql, now: Date): Promise<string[]> => listOperatorAccounts(sql, now);
