import type { HasDb } from '../../db/database.ts';
import { findLedgerAccounts, type LedgerAccount } from './ledger-store.ts';
import { agentTreasuryId } from './treasury.ts';

/** Treasuries of agents, by agent id; agents without one are left out. */
export async function agentTreasuries(
  ctx: HasDb,
  agentIds: readonly string[],
): Promise<ReadonlyMap<string, LedgerAccount>> {
  const found = await findLedgerAccounts(ctx.db, agentIds.map(agentTreasuryId));
  return new Map(found.flatMap((account) => (account.agentId ? [[account.agentId, account] as const] : [])));
}
