import type { HasDb } from '../../db/database.ts';
import { invalid } from '../../lib/app-error.ts';
import type { Agent } from '../agent.ts';
import { type ChangePlace, listChangedRows } from '../agent-store.ts';

/** Changes become visible when their transaction ends, not in the order of their times: for so long, one may yet come before others. */
const SETTLED_MS = 5000;

export interface ChangedAgents {
  readonly agents: readonly Agent[];
  readonly hasMore: boolean;
  /** To be given with the next question. */
  readonly cursor: string;
}

/**
 * This node's agents in the registry that changed after a cursor, in the order of their last change, removed ones included. At the
 * end the cursor goes back by five seconds, so that some are told again rather than one not at all.
 */
export async function listChangedAgents(
  ctx: HasDb,
  { cursor, limit }: { cursor: string | undefined; limit: number },
): Promise<ChangedAgents> {
  const after = cursor === undefined || cursor === '' ? null : readCursor(cursor);
  const found = await listChangedRows(ctx.db, { after, limit: limit + 1, settledMs: SETTLED_MS });
  const agents = found.agents.slice(0, limit);
  const last = agents.at(-1);
  const place = last ? { at: last.changedAt, id: last.id } : after;
  const hasMore = found.agents.length > limit;
  const isSettled = place === null || place.at <= found.settledAt;
  return { agents, hasMore, cursor: makeCursor(hasMore || isSettled ? place : { at: found.settledAt, id: '' }) };
}

const makeCursor = (place: ChangePlace | null): string =>
  place === null ? '' : Buffer.from(`${place.at}|${place.id}`).toString('base64url');

function readCursor(cursor: string): ChangePlace {
  const text = Buffer.from(cursor, 'base64url').toString();
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)\|([0-9a-z_]{0,100})$/.exec(text);
  if (!match?.[1] || Number.isNaN(Date.parse(match[1]))) throw invalid('cursor', 'is not one that this node made');
  return { at: match[1], id: match[2] ?? '' };
}
