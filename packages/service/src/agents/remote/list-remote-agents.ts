import type { HasDb } from '../../db/database.ts';
import type { Tx } from '../../db/sql.ts';
import { findAgentRow } from '../agent-store.ts';
import { newcomer } from '../reputation/reputation-parts.ts';
import { writeAllTerms, writeListings, writeTerms } from '../search/listing-store.ts';
import type { HomeNode, RemoteAgent } from './remote-agent.ts';
import {
  countListed,
  listTakenIds,
  moveRemoteAccount,
  moveRemoteHome,
  moveRemoteStatus,
  upsertRemoteRows,
} from './remote-agent-store.ts';

/** Agents that are shown anew at once. */
export const SHOWN_AT_ONCE = 500;

/**
 * Lists agents of another node as it tells of them, in the caller's transaction: new ones, and what differs of those that are known.
 * Their reputation is what this node has seen of them. Returns the ids that others have already: those agents are left out.
 */
export async function saveRemoteAgents(
  tx: Tx,
  home: HomeNode,
  agents: readonly RemoteAgent[],
  now: Date,
): Promise<string[]> {
  const taken = new Set(
    await listTakenIds(
      tx,
      home.nodeId,
      agents.map(({ id }) => id),
    ),
  );
  const own = agents
    .filter(({ id }) => !taken.has(id))
    .map((agent) => ({ ...agent, status: shownStatus(home, agent) }));
  const written = new Set(await upsertRemoteRows(tx, home, own, { reputation: newcomer.score.score, now }));
  const changed = own.filter(({ id }) => written.has(id));
  if (changed.length > 0) {
    await writeListings(tx, [...written]);
    await writeAllTerms(
      tx,
      changed
        .filter(({ status }) => status !== 'removed')
        .map((agent) => ({ ...agent, capabilities: [...agent.capabilities] })),
    );
  }
  return [...taken];
}

const shownStatus = ({ isOnline }: HomeNode, { status }: RemoteAgent) =>
  status === 'online' && !isOnline ? 'offline' : status;

/** Takes some agents of a node that does not answer offline. Returns how many there were; fewer than `SHOWN_AT_ONCE`: all. */
export async function takeOffline(tx: Tx, nodeId: string, now: Date): Promise<number> {
  const move = { nodeId, from: ['online'], to: 'offline', ids: null, limit: SHOWN_AT_ONCE, now } as const;
  const ids = await moveRemoteStatus(tx, move);
  await writeListings(tx, ids);
  return ids.length;
}

/**
 * Takes some agents of a node, or only these, from the lists: they are found and invoked no longer. Past invocations of them read as
 * before, and whenever their node tells of them again they are back. Returns how many there were, as above.
 */
export async function takeDown(tx: Tx, nodeId: string, only: readonly string[] | null, now: Date): Promise<number> {
  const from = ['pending_verification', 'online', 'offline'] as const;
  const ids = await moveRemoteStatus(tx, { nodeId, from, to: 'removed', ids: only, limit: SHOWN_AT_ONCE, now });
  await writeListings(tx, ids);
  return ids.length;
}

/** Notes in the caller's transaction that the account of a node is another. */
export const moveToAccount = (tx: Tx, nodeId: string, accountId: string): Promise<void> =>
  moveRemoteAccount(tx, nodeId, accountId);

/** Notes in the caller's transaction where an agent of another node is at home now, for that node to tell of it. */
export async function moveHome(tx: Tx, agentId: string, nodeId: string): Promise<void> {
  if (!(await moveRemoteHome(tx, agentId, nodeId))) return;
  const agent = await findAgentRow(tx, agentId);
  if (agent) await writeTerms(tx, agent);
}

/** How many agents are listed here: of this node, and of each other. */
export async function countAgents(ctx: HasDb): Promise<{ local: number; ofNode: ReadonlyMap<string, number> }> {
  const { all, ofNode } = await countListed(ctx.db);
  const remote = [...ofNode.values()].reduce((sum, count) => sum + count, 0);
  return { local: Math.max(0, all - remote), ofNode };
}
