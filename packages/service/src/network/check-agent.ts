import type { AgentTypes } from '@agent-network/contracts/agents/agent-types';
import { isBoundId } from '../agents/agent-id.ts';
import { moveHome, saveRemoteAgents, versionOf } from '../agents/search/list-remote-agents.ts';
import { type RemoteAgent, readRemoteTypes, saveRemoteTypes } from '../agents/search/remote-agent.ts';
import type { Tx } from '../store/sql.ts';
import { type AgentEntry, judgeAgentFile, typesTextOf } from './agent-file.ts';
import { type Entry, isBefore, isSameClaim, isTold, nextLook, nextTry, type Reason, stateAfter } from './entry.ts';
import { addressOf, claimOf } from './entry-address.ts';
import { lockEntries, lockRival, wakeEntries, wakeRivals, writeEntry } from './entry-store.ts';
import { delistAgent } from './list-node.ts';
import type { NetworkContext } from './network-context.ts';
import { readJson } from './network-file-client.ts';
import { findNode, isTelling, lockNode, type NetworkNode } from './node-store.ts';
import { isRefused } from './refusals.ts';

const MAX_BYTES = 256 * 1024;

type AgentsEntry = Entry & AgentEntry;

interface Found {
  /** The key that the agent was judged by. */
  readonly registrar: string | null;
  readonly agent: RemoteAgent;
  readonly types: AgentTypes | null;
  /** The version that was recorded before the agent's file was read. */
  readonly version: string | null;
}

/** Reads the file behind an agent's entry, and lists the agent or records the reason for ignoring it. */
export async function checkAgent(ctx: NetworkContext, checked: Entry, signal: AbortSignal): Promise<void> {
  const { agentId } = checked;
  if (agentId === null) return;
  const found = await readAgent(ctx, { ...checked, agentId }, signal);
  const ignored = await ctx.db.transaction(async (tx) => {
    const [entry] = await lockEntries(tx, ctx.registry.chainId, [checked.tokenId]);
    // A token that was transferred or pointed elsewhere meanwhile is due again.
    if (!entry || !isSameClaim(entry, checked)) return null;
    const own = { ...entry, agentId, nextTryAt: checked.nextTryAt };
    return typeof found === 'string' ? notListed(ctx, tx, own, found) : list(ctx, tx, own, found);
  });
  if (ignored) tellIgnored(ctx, ignored);
}

async function readAgent(ctx: NetworkContext, entry: AgentsEntry, signal: AbortSignal): Promise<Found | Reason> {
  if (isRefused(ctx, entry)) return 'refused';
  const node = await findNode(ctx.db, entry.baseUrl);
  if (!node?.isListed) return 'unknown_node';
  const version = await versionOf(ctx.db, entry.agentId);
  const read = await readJson(ctx, { url: addressOf(entry), maxBytes: MAX_BYTES, signal });
  if ('reason' in read) return read.reason;
  const { chainId, address } = ctx.registry;
  const here = { chainId, registry: address, registrar: node.registrar, now: ctx.clock.now() };
  const judged = judgeAgentFile(read.file, entry, here);
  if (typeof judged === 'string') return judged;
  if (!(await isAtHome(ctx, entry.agentId, node))) return 'other_home';
  const types = await typesOf(ctx, judged, { text: typesTextOf(read.file), home: entry.baseUrl });
  return { registrar: node.registrar, agent: judged, types, version };
}

/**
 * Types of a remote agent. Types that this node does not support are left out of its listing; its home applies them, and decides about each
 * call.
 */
async function typesOf(
  { log }: NetworkContext,
  agent: RemoteAgent,
  { text, home }: { readonly text: string | null; readonly home: string },
): Promise<AgentTypes | null> {
  if (text === null) return null;
  try {
    return await readRemoteTypes(text, { capabilities: agent.capabilities, home });
  } catch (err) {
    log.info({ err, agentId: agent.id }, 'types of a remote agent are left out');
    return null;
  }
}

/**
 * Returns true when an agent's home may be this node. Most ids are bound to their home key, which the file has shown. An unbound id belongs
 * to the node where the chain saw it first, or to the key that wrote it there: an older token that is pointed elsewhere later gains
 * nothing.
 */
async function isAtHome(ctx: NetworkContext, agentId: string, { baseUrl, registrar }: NetworkNode): Promise<boolean> {
  if (isBoundId(agentId)) return true;
  const first = await ctx.registryTokens.firstNaming(agentId);
  return first !== null && (claimOf(first.uri)?.baseUrl === baseUrl || first.by === registrar);
}

/**
 * Lists the agent; of two entries for it, the one that pointed there first wins. Returns the loser. An entry that gets here is its home's,
 * possibly at a new address.
 */
async function list(ctx: NetworkContext, tx: Tx, entry: AgentsEntry, found: Found): Promise<Ignored | null> {
  const { registrar, agent, types, version } = found;
  const { chainId } = ctx.registry;
  const now = ctx.clock.now();
  const node = await lockNode(tx, entry.baseUrl, 'share');
  if (!node?.isListed) return notListed(ctx, tx, entry, 'unknown_node');
  // The node speaks by another key now: its agents are due again.
  if (node.registrar !== registrar) return null;
  // The feed told of the agent meanwhile: the file may be older, and is read again.
  if ((await versionOf(tx, agent.id)) !== version) {
    await wakeEntries(tx, chainId, [entry.tokenId], now);
    return null;
  }
  const rival = await lockRival(tx, chainId, entry);
  const isSameNode = rival?.baseUrl === entry.baseUrl;
  const taken = isSameNode ? 'duplicate' : 'id_taken';
  if (rival && isBefore(rival, entry)) return notListed(ctx, tx, entry, taken);
  await moveHome(tx, agent.id, node.nodeId);
  if (types) await saveRemoteTypes(tx, agent, types, now);
  const others = await saveRemoteAgents(tx, { ...node, isOnline: isTelling(node) }, [agent], now);
  if (others.length > 0) return notListed(ctx, tx, entry, 'id_taken');
  const nextTryAt = nextLook('agent', Math.random(), now);
  await writeEntry(tx, chainId, entry, { state: 'listed', reason: null, tries: 0, nextTryAt });
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

/** An entry before its check, and the result. */
export interface Ignored {
  readonly entry: Entry;
  readonly outcome: { readonly state: Entry['state']; readonly reason: Reason; readonly tries: number };
}

/** Records a failed check in the caller's transaction, which has locked the entry. */
export async function ignore(
  ctx: Pick<NetworkContext, 'registry' | 'clock'>,
  tx: Tx,
  entry: Entry,
  reason: Reason,
): Promise<Ignored> {
  const outcome = afterIgnored(entry, reason, ctx.clock.now());
  await writeEntry(tx, ctx.registry.chainId, entry, outcome);
  return { entry, outcome };
}

function afterIgnored(entry: Entry, reason: Reason, now: Date) {
  const tries = entry.tries + 1;
  const state = stateAfter(entry, reason, tries);
  const again = nextTry(reason, tries, Math.random(), now);
  return {
    state,
    reason,
    tries,
    nextTryAt: again ?? (state === 'listed' ? nextLook(entry.kind, Math.random(), now) : null),
  };
}

/** Logs and counts the reason for ignoring an entry, once for each reason. */
export function tellIgnored(
  ctx: Pick<NetworkContext, 'ignoredLog' | 'metrics'>,
  { entry: before, outcome: { state, reason, tries } }: Ignored,
): void {
  const isTime = isTold(reason, tries);
  const wasTold = before.reason === reason && before.state === state && isTold(reason, before.tries);
  if (!isTime || wasTold || state !== 'ignored') return;
  ctx.metrics.networkIgnored.inc({ reason });
  ctx.ignoredLog.record(before, reason);
}
