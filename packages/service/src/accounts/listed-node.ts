import type { Sql } from '../store/sql.ts';
import { findListedNode } from './account-store.ts';

/** SQL: the status of the listed node that an account `a` belongs to. */
export const nodeOfAccount =
  '(select n.status from network_node n where n.base_url = a.node_url and n.wallet = a.address and n.is_listed)';

/** True when the account is that of a listed node that passes questions of agents on. */
export async function isOfInteractiveNode(sql: Sql, accountId: string): Promise<boolean> {
  const rows = await sql.query(
    'is-of-interactive-node',
    `select from account a join network_node n on n.base_url = a.node_url and n.wallet = a.address
      where a.id = $1 and n.is_listed and n.is_interactive`,
    [accountId],
  );
  return rows.length > 0;
}

/** True when the account is that of a listed node, and the address that node's wallet. */
export const isListedNode = (sql: Sql, accountId: string, address: string): Promise<boolean> =>
  findListedNode(sql, accountId, address);
