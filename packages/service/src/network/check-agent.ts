import { moveHome, saveRemoteAgents } from '../agents/list-remote-agents.ts';
import type { RemoteAgent } from '../agents/remote-agent.ts';
import type { Tx } from '../db/sql.ts';
import { type AgentEntry, judgeAgentFile } from './agent-file.ts';
import { type Entry, nextLook, type Reason } from './entry.ts';
import { addressOf } from './entry-address.ts';
import { lockEntries, lockRival, wakeRivals, writeEntry } from './entry-store.ts';
import { type Ignored, ignore, tellIgnored } from './ignored.ts';
import { delistAgent } from './list-node.ts';
import type { NetworkContext } from './network-context.ts';
import { readJson } from './network-file-client.ts';
import { findNode, isTelling, lockNode } from './node-store.ts';
import { isRefused } from './refusals.ts';

const MOST_BYTES = 256 * 1024;

type AgentsEntry = Entry & AgentEntry;

/** Reads the file that the entry of an agent leads to, and lists the agent or says why not. */
export async function checkAgent(ctx: NetworkContext, checked: Entry, signal: AbortSignal): Promise<void> {
  const { agentId } = checked;
  if (agentId === null) return;
  const found = await readAgent(ctx, { ...checked, agentId }, signal);
  const ignored = await ctx.db.transaction(async (tx) => {
    const [entry] = await lockEntries(tx, ctx.registry.chainId, [checked.tokenId]);
    if (entry?.baseUrl !== checked.baseUrl || entry.agentId !== agentId) return null;
    const own = { ...entry, agentId };
    return typeof found === 'string' ? notListed(ctx, tx, own, found) : list(ctx, tx, own, found);
  });
  if (ignored) tellIgnored(ctx, ignored);
}

async function readAgent(ctx: NetworkContext, entry: AgentsEntry, signal: AbortSignal): Promise<RemoteAgent | Reason> {
  if (isRefused(ctx, entry)) return 'refused';
  const node = await findNode(ctx.db, entry.baseUrl);
  if (!node?.isListed) return 'unknown_node';
  const read = await readJson(ctx, { url: addressOf(entry), maxBytes: MOST_BYTES, signal });
  if ('reason' in read) return read.reason;
  const { chainId, address } = ctx.registry;
  const here = { chainId, registry: address, registrars: node.registrars, now: ctx.clock.now() };
  return judgeAgentFile(read.file, entry, here);
}

/** Lists the agent; of two entries for an agent, the first on chain counts. Answers the one that does not. */
async function list(ctx: NetworkContext, tx: Tx, entry: AgentsEntry, agent: RemoteAgent): Promise<Ignored | null> {
  const { chainId } = ctx.registry;
  const now = ctx.clock.now();
  const node = await lockNode(tx, entry.baseUrl, 'share');
  if (!node?.isListed) return notListed(ctx, tx, entry, 'unknown_node');
  const rival = await lockRival(tx, chainId, entry);
  const isSameNode = rival?.baseUrl === entry.baseUrl;
  const taken = isSameNode ? 'duplicate' : 'id_taken';
  if (rival && BigInt(rival.tokenId) < BigInt(entry.tokenId)) return notListed(ctx, tx, entry, taken);
  if (rival && !isSameNode) await moveHome(tx, agent.id, node.nodeId);
  const others = await saveRemoteAgents(tx, { ...node, isOnline: isTelling(node) }, [agent], now);
  if (others.length > 0) return notListed(ctx, tx, entry, 'id_taken');
  const nextTryAt = nextLook('agent', Math.random(), now);
  await writeEntry(tx, chainId, entry.tokenId, { state: 'listed', reason: null, tries: 0, nextTryAt });
  return rival && ignore(ctx, tx, rival, taken);
}

async function notListed(ctx: NetworkContext, tx: Tx, entry: AgentsEntry, reason: Reason): Promise<Ignored> {
  const ignored = await ignore(ctx, tx, entry, reason);
  if (entry.state === 'listed' && ignored.outcome.state === 'ignored') {
    await delistAgent(ctx, tx, entry);
    await wakeRivals(tx, ctx.registry.chainId, entry, ctx.clock.now());
  }
  return ignored;
}
