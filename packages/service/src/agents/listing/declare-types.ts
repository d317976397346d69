import type { AgentTypes } from '@agent-network/contracts/agents/agent-types';
import { AppError } from '../../lib/app-error.ts';
import { newId } from '../../lib/id.ts';
import { removeInSteps } from '../../lib/retention.ts';
import type { Store } from '../../store/database.ts';
import type { Sql, Tx } from '../../store/sql.ts';
import { countTypes, findTypes, insertTypes, recordReplaced, removeReplaced } from './types-store.ts';

/** Time to keep replaced types: longer than the longest deadline, so all calls accepted with them are over. */
const KEPT_MS = 48 * 3_600_000;
/** Versions of one agent that are kept at a time. */
const MAX_KEPT = 20;

const keptSince = (now: Date) => new Date(now.getTime() - KEPT_MS);

/** Ends the present version of an agent that is removed: it is kept as long as a replaced one. */
export const endTypes = (tx: Tx, id: string, now: Date): Promise<void> => recordReplaced(tx, id, now);

/** Removes the versions that were replaced so long ago that no call needs them. */
export const forgetTypes = (ctx: Store): Promise<void> =>
  removeInSteps((most) => removeReplaced(ctx.db, keptSince(ctx.clock.now()), most));

/**
 * Stores checked types as a new version of an agent's. The transaction must have locked or inserted the agent's row. Returns the version's
 * id.
 */
export async function declareTypes(
  tx: Tx,
  { agentId, replaces, types }: { agentId: string; replaces: string | null; types: AgentTypes | null },
  now: Date,
): Promise<string | null> {
  if (replaces !== null) {
    await recordReplaced(tx, replaces, now);
    if ((await countTypes(tx, agentId, keptSince(now))) >= MAX_KEPT)
      throw new AppError('CONFLICT', `The types of this agent have changed ${MAX_KEPT} times in two days; try later.`);
  }
  if (types === null) return null;
  const id = newId('typ');
  await insertTypes(tx, { id, agentId, declared: types }, now);
  return id;
}

/** A version of an agent's declared types; null: replaced and removed. */
export const readTypes = (sql: Sql, id: string): Promise<AgentTypes | null> => findTypes(sql, id);
