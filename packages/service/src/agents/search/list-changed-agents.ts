import { invalid } from '../../lib/app-error.ts';
import { decodeCursor, encodeCursor } from '../../lib/page-position.ts';
import type { Store } from '../../store/database.ts';
import type { Agent } from '../agent.ts';
import { type ChangePosition, listChangedRows } from '../agent-store.ts';

/** Changes become visible at commit, not in the order of their timestamps: within this window an earlier one can still appear. */
const SETTLED_MS = 5000;

export interface ChangedAgents<T> {
  readonly agents: readonly T[];
  readonly hasMore: boolean;
  /** The cursor for the next page. */
  readonly cursor: string;
}

/** An agent in its wire form, and its size. */
export interface ShownAgent {
  readonly bytes: number;
}

/** Position of a reader. `floor`: the time since which an earlier change may have appeared behind it. */
interface FeedPosition extends ChangePosition {
  readonly floor: string | null;
}

/**
 * This node's registered agents that changed after a cursor, in the order of their last change, removed ones included: as many as fit into
 * `maxBytes`, at least one. The last page's cursor lies five seconds back, counted from the first page that was that young, so that agents
 * are repeated rather than skipped, however long the reader takes between its pages.
 */
export async function listChangedAgents<T extends ShownAgent>(
  ctx: Store,
  { cursor, limit, maxBytes }: { cursor: string | undefined; limit: number; maxBytes: number },
  show: (agent: Agent) => T,
): Promise<ChangedAgents<T>> {
  const after = cursor === undefined || cursor === '' ? null : readCursor(cursor);
  const found = await listChangedRows(ctx.db, { after, limit: limit + 1, settledMs: SETTLED_MS });
  const agents = firstThatFit(found.agents.slice(0, limit), maxBytes, show);
  const last = found.agents[agents.length - 1];
  const position = last ? { at: last.changedAt, id: last.id } : after;
  const hasMore = found.agents.length > agents.length;
  const isSettled = position === null || position.at <= found.settledAt;
  const floor = after?.floor ?? (isSettled ? null : found.settledAt);
  if (!hasMore && floor !== null) return { agents, hasMore, cursor: makeCursor({ at: floor, id: '', floor: null }) };
  return { agents, hasMore, cursor: makeCursor(position && { ...position, floor }) };
}

function firstThatFit<T extends ShownAgent>(
  agents: readonly Agent[],
  maxBytes: number,
  show: (agent: Agent) => T,
): T[] {
  const shown: T[] = [];
  let bytes = 0;
  for (const agent of agents) {
    const next = show(agent);
    bytes += next.bytes;
    if (shown.length > 0 && bytes > maxBytes) break;
    shown.push(next);
  }
  return shown;
}

/**
 * Encodes a cursor. The floor follows the id as digits, so that older processes read it as part of the id. That sorts directly after the id
 * in every collation, as all ids have one length.
 */
const makeCursor = (position: FeedPosition | null): string =>
  position === null ? '' : encodeCursor(`${position.at}|${position.id}${floorMark(position.floor)}`);

const floorMark = (floor: string | null): string => (floor === null ? '' : `__${floor.replace(/\D/g, '')}`);

const CURSOR = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)\|([0-9a-z_]{0,100})$/;
const MARKED = /^(.*)__(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d{6})$/;

function readCursor(cursor: string): FeedPosition {
  const [at = '', marked = ''] = decodeCursor(cursor, CURSOR);
  const floor = MARKED.test(marked) ? marked.replace(MARKED, '$2-$3-$4T$5:$6:$7.$8Z') : null;
  if (![at, floor ?? at].every(isTime)) throw invalid('cursor', 'is not a cursor of this node');
  return { at, id: marked.replace(MARKED, '$1'), floor };
}

/** True for a time that PostgreSQL takes too: JavaScript reads the 30th of February as a day in March, and PostgreSQL has no year 0. */
function isTime(text: string): boolean {
  const ms = Date.parse(text);
  return !Number.isNaN(ms) && !text.startsWith('0000') && new Date(ms).toISOString().slice(0, 10) === text.slice(0, 10);
}
