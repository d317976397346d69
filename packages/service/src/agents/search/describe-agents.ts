import type { Store } from '../../store/database.ts';
import { type AgentDescription, findDescriptions } from './listing-row-store.ts';

/** Descriptions that the listing in memory does without, by agent. */
export async function describeAgents(
  ctx: Store,
  ids: readonly string[],
): Promise<ReadonlyMap<string, AgentDescription>> {
  const rows = ids.length === 0 ? [] : await findDescriptions(ctx.db, ids);
  return new Map(rows.map((row) => [row.id, row]));
}
