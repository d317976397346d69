import type { HasDb } from '../../db/database.ts';
import { findStoredListings } from './listing-row-store.ts';

/** The descriptions of listed agents, by id: the listing in memory does without them. */
export async function describeAgents(ctx: HasDb, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await findStoredListings(ctx.db, { agents: ids, accounts: [], nodes: [] });
  return new Map(rows.map(({ id, description }) => [id, description]));
}
