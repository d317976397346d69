import { saveRemoteAgents } from '../agents/search/list-remote-agents.ts';
import { listWithUnknownTypes, type RemoteAgent } from '../agents/search/remote-agent.ts';
import { isPlainName } from '../lib/json/json-object.ts';
import type { Outbound } from '../lib/net/guarded-fetch.ts';
import type { Store } from '../store/database.ts';
import type { Tx } from '../store/sql.ts';
import { judgeAgentFile } from './agent-file.ts';
import type { Entry, Reason } from './entry.ts';
import { countClaims, listedAgents, wakeEntries } from './entry-store.ts';
import { tellNode } from './list-node.ts';
import type { NetworkContext } from './network-context.ts';
import { type AskedPause, readJson } from './network-file-client.ts';
import { lockNode, type NetworkNode, writeFed } from './node-store.ts';

/** Maximum pages of one node in a round; the next round continues there. */
const MAX_PAGES = 25;
const MAX_MS = 10_000;
/** Maximum agents in a full feed: each appears once, and again if it changes during the reading. A longer feed is broken. */
const MAX_TOLD = (claims: number) => 5000 + 10 * claims;

export type FeedFailure = Reason | 'endless';
export type FeedOutcome = 'up_to_date' | 'more' | { readonly failed: FeedFailure; readonly pause: AskedPause | null };

/** Reads the changes of a node's agents, to the end or to the limit of a round. */
export async function readFeed(ctx: NetworkContext, node: NetworkNode, signal: AbortSignal): Promise<FeedOutcome> {
  const endMs = performance.now() + MAX_MS;
  let { feedCursor: cursor, feedRead: read } = node;
  const maxRead = MAX_TOLD(await countClaims(ctx.db, ctx.registry.chainId, node.baseUrl));
  for (let pages = 0; pages < MAX_PAGES && performance.now() < endMs; pages++) {
    const asked = await askFeed(ctx, { baseUrl: node.baseUrl, cursor, signal });
    if ('failed' in asked) return asked;
    const { page } = asked;
    read = page.hasMore ? read + Math.max(1, page.agents.length) : 0;
    if (read > maxRead) return { failed: 'endless', pause: null };
    if (!(await applyPage(ctx, { baseUrl: node.baseUrl, from: cursor, page, read }))) return 'more';
    cursor = page.cursor;
    if (!page.hasMore) return 'up_to_date';
  }
  return 'more';
}

interface Told {
  readonly baseUrl: string;
  readonly from: string | null;
  readonly page: FeedPage;
  readonly read: number;
}

/** Lists the agents of a page and advances the cursor. False when another process has advanced it, or the node is no longer listed. */
async function applyPage(ctx: NetworkContext, told: Told): Promise<boolean> {
  const now = ctx.clock.now();
  const doubtful = await atCursor(ctx, told, async (tx, node) => {
    const { good, doubtful } = await judge(ctx, tx, node, told.page.agents, now);
    if (good.length > 0) await saveRemoteAgents(tx, { ...node, isOnline: true }, good, now);
    if (doubtful.length === 0) await advance(tx, node, told, now);
    return doubtful;
  });
  if (doubtful === null || doubtful.length === 0) return doubtful !== null;
  // Re-reads the agents' own files: a mistake in the feed takes nothing down, and new types stand in the file only. The page is read again
  // if this process dies before: nothing else would have the files read for a day. Entries are locked before nodes, so not in the transaction above.
  await wakeEntries(ctx.db, ctx.registry.chainId, doubtful, now);
  return (await atCursor(ctx, told, (tx, node) => advance(tx, node, told, now))) !== null;
}

/** Runs work on a listed node, locked, if its cursor is still the start of the page; else returns null. */
const atCursor = <T>(ctx: NetworkContext, { baseUrl, from }: Told, work: (tx: Tx, node: NetworkNode) => Promise<T>) =>
  ctx.db.transaction(async (tx) => {
    const node = await lockNode(tx, baseUrl, 'update');
    return node?.isListed && node.feedCursor === from ? work(tx, node) : null;
  });

/** Advances the cursor. An offline node with a complete feed emits that it joined, as its leaving was emitted before. */
async function advance(tx: Tx, node: NetworkNode, { page, read }: Told, now: Date): Promise<void> {
  await writeFed(tx, node.nodeId, { cursor: page.cursor, read, isEnd: !page.hasMore, now });
  if (node.status === 'offline' && !page.hasMore) await tellNode(tx, 'network.node_joined', node, now);
}

/** Keeps only agents with a listed entry. `doubtful`: tokens of agents with a file of their own to read. */
async function judge(
  ctx: NetworkContext,
  tx: Tx,
  node: NetworkNode,
  files: readonly unknown[],
  now: Date,
): Promise<{ good: RemoteAgent[]; doubtful: string[] }> {
  const { chainId, address } = ctx.registry;
  const told = new Map(files.flatMap((file) => idOf(file) ?? []).map(({ id, file }) => [id, file]));
  const entries = await listedAgents(tx, chainId, node.baseUrl, [...told.keys()]);
  const here = { chainId, registry: address, registrar: node.registrar, now };
  const judged = entries.map((entry) => ({
    entry,
    agent: judgeAgentFile(told.get(entry.agentId ?? ''), asAgent(entry), here),
  }));
  const good = judged.flatMap(({ agent }) => (typeof agent === 'string' ? [] : [agent]));
  const untold = await listWithUnknownTypes(tx, good);
  return {
    good,
    doubtful: judged
      .filter(({ agent }) => typeof agent === 'string' || untold.has(agent.id))
      .map(({ entry }) => entry.tokenId),
  };
}

const asAgent = (entry: Entry) => ({ ...entry, agentId: entry.agentId ?? '' });

function idOf(file: unknown): { id: string; file: unknown }[] | null {
  const id = (file as { agentNetwork?: { id?: unknown } } | null)?.agentNetwork?.id;
  return typeof id === 'string' && isPlainName(id) ? [{ id, file }] : null;
}

/** Page size. */
const LIMIT = 200;
/** Fits a page of agents of maximum size. */
const MAX_BYTES = 8 * 2 ** 20;

const MAX_CURSOR_CHARS = 200;

interface FeedPage {
  /** Registration files, not validated. */
  readonly agents: readonly unknown[];
  readonly hasMore: boolean;
  readonly cursor: string;
}

type Asked =
  | { readonly page: FeedPage }
  /** `pause`: the node asks to be left alone. */
  | { readonly failed: Reason; readonly pause: AskedPause | null };

/** Reads the agents of a node that changed since a cursor. Throws only when the signal aborts. */
async function askFeed(
  ctx: Outbound & Store,
  { baseUrl, cursor, signal }: { baseUrl: string; cursor: string | null; signal: AbortSignal },
): Promise<Asked> {
  const query = new URLSearchParams({ limit: String(LIMIT), ...(cursor === null ? {} : { cursor }) });
  const read = await readJson(ctx, { url: `${baseUrl}/network/agents?${query}`, maxBytes: MAX_BYTES, signal });
  if ('reason' in read) return { failed: read.reason, pause: read.pause };
  const page = (read.file as { data?: Partial<Record<keyof FeedPage, unknown>> } | null)?.data;
  return isPage(page) ? { page } : { failed: 'bad_file', pause: null };
}

const isPage = (page: Partial<Record<keyof FeedPage, unknown>> | undefined): page is FeedPage & typeof page =>
  Array.isArray(page?.agents) &&
  page.agents.length <= LIMIT &&
  typeof page.hasMore === 'boolean' &&
  typeof page.cursor === 'string' &&
  page.cursor.length <= MAX_CURSOR_CHARS &&
  isPlainName(page.cursor);
