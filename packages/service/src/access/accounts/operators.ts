import type { Sql } from '../../db/sql.ts';
import { listOperatorAccounts } from './operator-store.ts';

/** The accounts of those who run this node: that have a living key with the scope `operator`. */
export const operatorAccounts = (sql: Sql, now: Date): Promise<string[]> => listOperatorAccounts(sql, now);
