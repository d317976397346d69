import { SHOWN_AT_ONCE, takeDown, takeOffline } from '../agents/search/list-remote-agents.ts';
import { MINUTE_MS } from '../lib/duration.ts';
import { wakeEntries } from './entry-store.ts';
import { tellNode } from './list-node.ts';
import type { NetworkContext } from './network-context.ts';
import type { AskedPause } from './network-file-client.ts';
import {
  findNode,
  listUnshown,
  lockNode,
  type NetworkNode,
  writeFailed,
  writeNextCheck,
  writeShown,
} from './node-store.ts';
import { type FeedFailure, readFeed } from './read-feed.ts';

/** Consecutive failures after which a node is offline. */
const FAILURES_UNTIL_GONE = 3;
/** Maximum back-off factor for polling an offline node. */
const RAREST = 10;
/** Longest pause that a node is given: our own limits of requests are per hour. */
const MAX_PAUSE_MS = 60 * MINUTE_MS;
/** A node that asks for pauses fails after this time without a page: one that is busy has two hours, one that is away a restart. */
const MAX_SILENCE_MS = { 429: 120 * MINUTE_MS, 503: 10 * MINUTE_MS } as const;

/**
 * Polls a node's feed. Three failures in a row make the node and its agents offline, an answer online. A node that asks for a pause gets it
 * and keeps its position; that is not a failure, unless it has sent nothing for long.
 */
export async function askNode(ctx: NetworkContext, node: NetworkNode, signal: AbortSignal): Promise<void> {
  const outcome = await readFeed(ctx, node, signal);
  const { pollMs } = ctx.networkRules;
  if (typeof outcome === 'object') {
    const pauseMs = await grantedPause(ctx, node, outcome.pause);
    if (pauseMs !== null) return plan(ctx, node, Math.max(pollMs, pauseMs), 1);
    const failedInARow = await recordFailure(ctx, node, outcome.failed);
    const times = Math.min(RAREST, 2 ** Math.max(0, failedInARow - FAILURES_UNTIL_GONE));
    return plan(ctx, node, pollMs * times);
  }
  if (node.status === 'offline' && outcome === 'up_to_date') {
    ctx.log.info({ nodeId: node.nodeId, baseUrl: node.baseUrl }, 'node is reachable again');
    // Its label or wallet may have changed.
    await wakeEntries(ctx.db, ctx.registry.chainId, [node.tokenId], ctx.clock.now());
  }
  await plan(ctx, node, outcome === 'more' ? 0 : pollMs);
}

/** `least`: minimum share of the pause, before random variation. */
const plan = (ctx: NetworkContext, { nodeId }: NetworkNode, pauseMs: number, least = 0.9): Promise<void> =>
  writeNextCheck(
    ctx.db,
    nodeId,
    new Date(ctx.clock.now().getTime() + Math.round(pauseMs * (least + Math.random() / 5))),
  );

/**
 * The pause that a node asked for; null: none, or the node has sent nothing for too long, so that it can't stay online by asking for
 * pauses.
 */
async function grantedPause(
  ctx: NetworkContext,
  { baseUrl }: NetworkNode,
  asked: AskedPause | null,
): Promise<number | null> {
  if (asked === null) return null;
  // Read again: pages of this round have moved it.
  const node = await findNode(ctx.db, baseUrl);
  const silentMs = node === null ? Number.POSITIVE_INFINITY : ctx.clock.now().getTime() - node.lastSeenAt.getTime();
  const leftMs = MAX_SILENCE_MS[asked.status] - silentMs;
  if (leftMs <= 0) return null;
  ctx.log.debug({ baseUrl, status: asked.status, pauseMs: asked.ms }, 'node asks to be left alone');
  return Math.min(MAX_PAUSE_MS, asked.ms, leftMs);
}

async function recordFailure(ctx: NetworkContext, { baseUrl }: NetworkNode, reason: FeedFailure): Promise<number> {
  ctx.metrics.networkFeedFailures.inc({ reason });
  const now = ctx.clock.now();
  const after = await ctx.db.transaction(async (tx) => {
    const node = await lockNode(tx, baseUrl, 'update');
    if (!node?.isListed) return null;
    const failedInARow = node.failedInARow + 1;
    const isGone = node.status === 'online' && failedInARow >= FAILURES_UNTIL_GONE;
    await writeFailed(tx, node.nodeId, { failedInARow, isGone });
    if (isGone) await tellNode(tx, 'network.node_left', node, now);
    return { nodeId: node.nodeId, failedInARow, isGone };
  });
  const fields = { nodeId: after?.nodeId, baseUrl, reason };
  if (after?.isGone) ctx.log.warn(fields, 'node unreachable; its agents are offline');
  else ctx.log.debug(fields, 'node feed request failed');
  return after?.failedInARow ?? 0;
}

/** Applies a node's status to its agents (offline or unlisted), in batches; the rest follows in the next run. */
export async function showNodes(ctx: NetworkContext): Promise<void> {
  for (const baseUrl of await listUnshown(ctx.db)) while ((await showSome(ctx, baseUrl)) === SHOWN_AT_ONCE);
}

const showSome = (ctx: NetworkContext, baseUrl: string): Promise<number> =>
  ctx.db.transaction(async (tx) => {
    const node = await lockNode(tx, baseUrl, 'update');
    if (!node || node.isShown) return 0;
    const now = ctx.clock.now();
    const shown = node.isListed ? await takeOffline(tx, node.nodeId, now) : await takeDown(tx, node.nodeId, null, now);
    if (shown < SHOWN_AT_ONCE) await writeShown(tx, node.nodeId);
    return shown;
  });
