import type { HasDb } from '../../db/database.ts';
import { invalid } from '../../lib/app-error.ts';
import type { Agent } from '../agent.ts';
import { type ChangePlace, listChangedRows } from '../agent-store.ts';

/** Changes become visible at commit, not in the order of their timestamps: within this window an earlier one can still appear. */
const SETTLED_MS = 5000;

export interface ChangedAgents {
  readonly agents: readonly Agent[];
  readonly hasMore: boolean;
  /** The cursor for the next page. */
  readonly cursor: string;
}

/**
 * This node's registered agents that changed after a cursor, in the order of their last change, removed ones included. The last page's
 * cursor lies five seconds back, so that agents are repeated rather than skipped.
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
  if (!match?.[1] || !isTime(match[1])) throw invalid('cursor', 'is not a cursor of this node');
  return { at: match[1], id: match[2] ?? '' };
}

/** True for a time that PostgreSQL takes too: JavaScript reads the 30th of February as a day in March, and PostgreSQL has no year 0. */
function isTime(text: string): boolean {
  const ms = Date.parse(text);
  return !Number.isNaN(ms) && !text.startsWith('0000') && new Date(ms).toISOString().slice(0, 10) === text.slice(0, 10);
}
