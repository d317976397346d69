import type { Tx } from '../store/sql.ts';
import { type Ignored, ignore, tellIgnored } from './check-agent.ts';
import { type Entry, isBefore, nextLook, type Reason } from './entry.ts';
import { addressOf } from './entry-address.ts';
import { lockEntries, lockRival, wakeRivals, writeEntry } from './entry-store.ts';
import { delistNode, listNode } from './list-node.ts';
import type { NetworkContext } from './network-context.ts';
import { readJson } from './network-file-client.ts';
import { isRefused } from './refusals.ts';
import { judgeNodeFile, type NodeDescription } from './registered-file.ts';

const MAX_BYTES = 64 * 1024;

/** Reads the file behind a node's entry, and lists the node or records the reason for ignoring it. */
export async function checkNode(ctx: NetworkContext, checked: Entry, signal: AbortSignal): Promise<void> {
  const found = await readNode(ctx, checked, signal);
  const ended = await ctx.db.transaction(async (tx) => {
    const [locked] = await lockEntries(tx, ctx.registry.chainId, [checked.tokenId]);
    if (locked?.baseUrl !== checked.baseUrl || locked.kind !== 'node') return { hasJoined: false, ignored: null };
    const entry = { ...locked, nextTryAt: checked.nextTryAt };
    return typeof found === 'string' ? notListed(ctx, tx, entry, found) : list(ctx, tx, entry, found);
  });
  if (ended.ignored) tellIgnored(ctx, ended.ignored);
  const { tokenId, baseUrl } = checked;
  if (ended.hasJoined) ctx.log.info({ tokenId, baseUrl }, 'node joined the network');
}

async function readNode(ctx: NetworkContext, entry: Entry, signal: AbortSignal): Promise<NodeDescription | Reason> {
  if (isRefused(ctx, entry)) return 'refused';
  const url = addressOf({ baseUrl: entry.baseUrl, agentId: null });
  const read = await readJson(ctx, { url, maxBytes: MAX_BYTES, signal });
  if ('reason' in read) return read.reason;
  const { chainId, address } = ctx.registry;
  return judgeNodeFile(read.file, entry, { chainId, registry: address, wallet: ctx.chain.wallet });
}

interface Ended {
  readonly hasJoined: boolean;
  readonly ignored: Ignored | null;
}

/** Lists the node; of two entries for it, the one that pointed there first wins. */
async function list(ctx: NetworkContext, tx: Tx, entry: Entry, description: NodeDescription): Promise<Ended> {
  const { chainId } = ctx.registry;
  const rival = await lockRival(tx, chainId, entry);
  if (rival && isBefore(rival, entry)) return notListed(ctx, tx, entry, 'duplicate');
  const ignored = rival && (await ignore(ctx, tx, rival, 'duplicate'));
  const nextTryAt = nextLook('node', Math.random(), ctx.clock.now());
  await writeEntry(tx, chainId, entry, { state: 'listed', reason: null, tries: 0, nextTryAt });
  return { hasJoined: await listNode(ctx, tx, entry, description), ignored };
}

async function notListed(ctx: NetworkContext, tx: Tx, entry: Entry, reason: Reason): Promise<Ended> {
  const ignored = await ignore(ctx, tx, entry, reason);
  if (entry.state === 'listed' && ignored.outcome.state === 'ignored') {
    await delistNode(ctx, tx, entry.baseUrl);
    await wakeRivals(tx, ctx.registry.chainId, entry, ctx.clock.now());
  }
  return { hasJoined: false, ignored };
}
