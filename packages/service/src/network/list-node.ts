import { accountOfNode, accountOfWallet } from '../accounts/open-account.ts';
import { moveToAccount, takeDown } from '../agents/search/list-remote-agents.ts';
import { emit } from '../events/outbox/outbox.ts';
import { networkListeners } from '../events/webhooks/network-listeners.ts';
import { newId } from '../lib/id.ts';
import type { Tx } from '../store/sql.ts';
import type { Entry } from './entry.ts';
import { unlistAgents, wakeAgents } from './entry-store.ts';
import type { NetworkContext } from './network-context.ts';
import { describeNode, insertNode, lockNode, relistNode, unlistNode } from './node-store.ts';
import type { NodeDescription } from './registered-file.ts';

/** Lists a node by its entry, or updates its description, in the caller's transaction. Returns true when it has joined. */
export async function listNode(
  ctx: NetworkContext,
  tx: Tx,
  entry: Entry,
  description: NodeDescription,
): Promise<boolean> {
  const { chainId } = ctx.registry;
  const now = ctx.clock.now();
  const { baseUrl, tokenId } = entry;
  // The wallet is a claim of the file; until it signs in as the node, the node's agents belong to the key that announced it.
  const accountId =
    (await accountOfNode(tx, description.wallet, baseUrl)) ?? (await accountOfWallet(tx, entry.uriBy, now));
  const known = await lockNode(tx, baseUrl, 'update');
  const nodeId = known?.nodeId ?? newId('nod');
  const node = { ...description, nodeId, chainId, tokenId, baseUrl, accountId };
  if (known) await describeNode(tx, nodeId, node);
  else await insertNode(tx, node, now);
  if (known && known.accountId !== accountId) await moveToAccount(tx, nodeId, accountId);
  // The key of the token decides the agents that may have their home there.
  if (known?.isListed && known.tokenId !== tokenId) await wakeAgents(tx, chainId, baseUrl, now);
  if (known?.isListed) return false;
  if (known) await relistNode(tx, nodeId, now);
  await wakeAgents(tx, chainId, baseUrl, now);
  await tellNode(tx, 'network.node_joined', node, now);
  return true;
}

/** Unlists a node in the caller's transaction; its agents follow soon. Returns true when it was listed. */
export async function delistNode(ctx: NetworkContext, tx: Tx, baseUrl: string): Promise<boolean> {
  const node = await lockNode(tx, baseUrl, 'update');
  if (!node?.isListed) return false;
  await unlistNode(tx, node.nodeId);
  await unlistAgents(tx, ctx.registry.chainId, baseUrl);
  if (node.status === 'online') await tellNode(tx, 'network.node_left', node, ctx.clock.now());
  return true;
}

/** Unlists an agent of a node, in the caller's transaction. */
export async function delistAgent(
  ctx: NetworkContext,
  tx: Tx,
  { baseUrl, agentId }: { baseUrl: string; agentId: string },
): Promise<void> {
  const node = await lockNode(tx, baseUrl, 'share');
  if (node) await takeDown(tx, node.nodeId, [agentId], ctx.clock.now());
}

/** Emits the joining or leaving of a node to the network's listeners, in the caller's transaction. */
export async function tellNode(
  tx: Tx,
  type: 'network.node_joined' | 'network.node_left',
  { nodeId, label, baseUrl }: { nodeId: string; label: string; baseUrl: string },
  now: Date,
): Promise<void> {
  const listeners = await networkListeners(tx, type, now);
  const data = { nodeId, label, baseUrl };
  await emit(
    tx,
    listeners.map((accountId) => ({ type, accountId, subjectId: nodeId, data })),
    now,
  );
}
