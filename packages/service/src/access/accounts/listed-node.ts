import type { Sql } from '../../db/sql.ts';
import { findListedNode } from './account-store.ts';

/** True when the account is that of a listed node, and the address that node's wallet. */
export const isListedNode = (sql: Sql, accountId: string, address: string): Promise<boolean> =>
  findListedNode(sql, accountId, address);
