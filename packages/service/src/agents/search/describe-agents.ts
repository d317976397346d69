import type { Store } from '../../store/database.ts';
import { type AgentDescription, findDescriptions } from './listing-row-store.ts';

const MAX_CHARS = 200;

/** The beginnings of the descriptions of listed agents, by id. */
export async function beginningsOf(ctx: Store, ids: readonly string[]): Promise<Record<string, string>> {
  const found = await describeAgents(ctx, ids);
  return Object.fromEntries(
    [...found].map(([id, { description }]) => [id, [...description].slice(0, MAX_CHARS).join('')]),
  );
}

/** Descriptions that the listing in memory does without, by agent. */
export async function describeAgents(
  ctx: Store,
  ids: readonly string[],
): Promise<ReadonlyMap<string, AgentDescription>> {
  const rows = ids.length === 0 ? [] : await findDescriptions(ctx.db, ids);
  return new Map(rows.map((row) => [row.id, row]));
}
