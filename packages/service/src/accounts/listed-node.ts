import type { Sql } from '../store/sql.ts';
import { findInteractiveNode, findListedNode } from './account-store.ts';

/** SQL: the status of the listed node that an account `a` belongs to. */
export const nodeOfAccount =
  '(select n.status from network_node n where n.base_url = a.node_url and n.wallet = a.address and n.is_listed)';

/** True when the account is that of a listed node that passes questions of agents on. */
export const isOfInteractiveNode = (sql: Sql, accountId: string): Promise<boolean> =>
  findInteractiveNode(sql, accountId);

/** True when the account is that of a listed node, and the address that node's wallet. */
export const isListedNode = (sql: Sql, accountId: string, address: string): Promise<boolean> =>
  findListedNode(sql, accountId, address);
