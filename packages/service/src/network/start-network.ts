import type { AgentServices } from '../agents/agent-services.ts';
import { countAgents } from '../agents/search/list-remote-agents.ts';
import type { Repeating, Schedule } from '../store/queue/schedule.ts';
import { askNode, showNodes } from './ask-node.ts';
import { checkAgent } from './check-agent.ts';
import { checkNode } from './check-node.ts';
import { HAS_DUE_ENTRIES, HAS_UNFOLLOWED, takeDueAgents, takeDueNodes, wakeRefused } from './entry-store.ts';
import { followEntries } from './follow-entries.ts';
import type { NetworkContext } from './network-context.ts';
import { createShares, takeDue } from './network-shares.ts';
import { HAS_DUE_NODES, HAS_UNSHOWN_NODES, listNodes, takeDueFeeds } from './node-store.ts';

/** Lease of a check of another node: after it the check counts as lost with its process, and is due again. */
const LOST_AFTER_MS = 30_000;
const AGENTS_OF_NODE_AT_ONCE = 8;
const MAX_TICK_MS = 1000;
const COUNT_EVERY_MS = 10_000;
export const MAX_NODES = 1000;

/**
 * Maintains the list of other nodes and their agents: follows the registry, reads the files behind its entries, and polls each node's feed.
 * New nodes, agents and feeds have separate limits, with shares for each node, key and site, so that none blocks others.
 */
export function startNetwork(ctx: NetworkContext & AgentServices, schedule: Schedule): Repeating {
  const stopping = new AbortController();
  const { signal } = stopping;
  const onError = (err: unknown) => {
    if (!signal.aborted) ctx.log.error({ err }, 'check of another node failed');
  };
  const strangers = createShares({ most: 16, maxPerNode: 1, maxPerKey: 4, maxPerSite: 6 }, onError);
  const agents = createShares({ most: 32, maxPerNode: AGENTS_OF_NODE_AT_ONCE, maxPerKey: 16, maxPerSite: 16 }, onError);
  const feeds = createShares({ most: 32, maxPerNode: 1, maxPerKey: 16, maxPerSite: 16 }, onError);

  async function look(): Promise<void> {
    const now = ctx.clock.now();
    const { chainId } = ctx.registry;
    const due = { chainId, now, busyUntil: new Date(now.getTime() + LOST_AFTER_MS) };
    for (const node of await takeDue(feeds, (room) => takeDueFeeds(ctx.db, { ...due, ...room })))
      feeds.run(node, () => askNode(ctx, node, signal));
    for (const entry of await takeDue(strangers, (room) => takeDueNodes(ctx.db, { ...due, ...room })))
      strangers.run(entry, () => checkNode(ctx, entry, signal));
    for (const entry of await takeDue(agents, (room) =>
      takeDueAgents(ctx.db, { ...due, ...room }, AGENTS_OF_NODE_AT_ONCE),
    ))
      agents.run(entry, () => checkAgent(ctx, entry, signal));
  }

  let hasRefused = false;
  async function follow(): Promise<void> {
    if (!hasRefused) await wakeRefused(ctx.db, ctx.registry.chainId, refusedOf(ctx), ctx.clock.now());
    hasRefused = true;
    await followEntries(ctx);
    await showNodes(ctx);
  }

  const tickMs = Math.min(ctx.registry.pollMs, MAX_TICK_MS);
  schedule.every('follow-network', tickMs, follow, {
    hasWork: { sql: `${HAS_UNFOLLOWED} or ${HAS_UNSHOWN_NODES}`, isDue: () => !hasRefused },
  });
  schedule.here('look-at-network', tickMs, look, { hasWork: { sql: `${HAS_DUE_NODES} or ${HAS_DUE_ENTRIES}` } });
  schedule.here('count-network', COUNT_EVERY_MS, () => countNetwork(ctx));
  return {
    async stop() {
      stopping.abort();
      await schedule.stop();
      await Promise.all([strangers, agents, feeds].map((slots) => slots.idle()));
    },
  };
}

const refusedOf = ({ networkRules: { refused } }: NetworkContext) => ({
  tokenIds: refused.filter((each) => /^\d+$/.test(each)),
  baseUrls: refused,
});

/** Sets this process's metrics of the network. */
async function countNetwork(ctx: NetworkContext & AgentServices): Promise<void> {
  const nodes = await listNodes(ctx.db, MAX_NODES);
  for (const status of ['online', 'offline'] as const)
    ctx.metrics.networkNodes.set({ status }, nodes.filter((node) => node.status === status).length);
  const { ofNode } = await countAgents(ctx);
  ctx.metrics.networkAgents.set([...ofNode.values()].reduce((sum, count) => sum + count, 0));
}
