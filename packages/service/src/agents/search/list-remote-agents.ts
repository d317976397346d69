import type { Sql, Tx } from '../../store/sql.ts';
import type { AgentServices } from '../agent-services.ts';
import { newcomer } from '../reputation/reputation-parts.ts';
import type { HomeNode, RemoteAgent } from './remote-agent.ts';
import {
  listTakenIds,
  moveRemoteAccount,
  moveRemoteHome,
  moveRemoteStatus,
  readRowVersion,
  upsertRemoteRows,
} from './remote-agent-store.ts';

/** Batch size of listing updates. */
export const SHOWN_AT_ONCE = 500;

/**
 * Saves another node's agents in the caller's transaction: inserts new ones and updates the fields that differ. Their reputation comes from
 * this node's own records. Returns the ids that belong to other nodes; those agents are skipped.
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
  await upsertRemoteRows(tx, home, own, { reputation: newcomer.score.score, now });
  return [...taken];
}

const shownStatus = ({ isOnline }: HomeNode, { status }: RemoteAgent) =>
  status === 'online' && !isOnline ? 'offline' : status;

/** Sets some agents of an unreachable node offline. Returns their number; fewer than `SHOWN_AT_ONCE` means that none are left. */
export async function takeOffline(tx: Tx, nodeId: string, now: Date): Promise<number> {
  const move = { nodeId, from: ['online'], to: 'offline', ids: null, limit: SHOWN_AT_ONCE, now } as const;
  const ids = await moveRemoteStatus(tx, move);
  return ids.length;
}

/**
 * Unlists some agents of a node, or only the given ones: they are no longer found or invoked. Past invocations stay readable, and the
 * agents are listed again when their node reports them. Returns their number, as above.
 */
export async function takeDown(tx: Tx, nodeId: string, only: readonly string[] | null, now: Date): Promise<number> {
  const from = ['pending_verification', 'online', 'offline'] as const;
  const ids = await moveRemoteStatus(tx, { nodeId, from, to: 'removed', ids: only, limit: SHOWN_AT_ONCE, now });
  return ids.length;
}

/** Records in the caller's transaction that another account owns the agents of a node. */
export const moveToAccount = (tx: Tx, nodeId: string, accountId: string): Promise<void> =>
  moveRemoteAccount(tx, nodeId, accountId);

/** Records in the caller's transaction that a remote agent has another home node, which reports it from now on. */
export const moveHome = (tx: Tx, agentId: string, nodeId: string): Promise<void> => moveRemoteHome(tx, agentId, nodeId);

/** Version of an agent's row, which changes with every write; null: not found. */
export const versionOf = (sql: Sql, agentId: string): Promise<string | null> => readRowVersion(sql, agentId);

/** Number of listed agents: of this node, and of each other node. */
export async function countAgents(ctx: AgentServices): Promise<{ local: number; ofNode: ReadonlyMap<string, number> }> {
  const homes = await ctx.listing.read((index) => index.homes());
  return {
    local: homes.find(({ home }) => home === null)?.count ?? 0,
    ofNode: new Map(homes.flatMap(({ home, count }) => (home === null ? [] : [[home, count]]))),
  };
}
