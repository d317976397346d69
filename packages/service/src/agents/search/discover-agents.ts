import type { Api } from '@agent-network/contracts/api';
import type { DataOf, Parsed } from '@agent-network/contracts/endpoint';
import { parseUsdc } from '@agent-network/contracts/money';
import type { HasDb } from '../../db/database.ts';
import { invalid } from '../../lib/app-error.ts';
import { createBatcher } from '../../lib/batcher.ts';
import { toListItem } from '../agent-view.ts';
import type { Place } from './index/listing.ts';
import { bestReputationFirst } from './index/search-order.ts';
import { readSearchPage, type SearchQuestion } from './search-page.ts';
import type { SearchPage } from './search-sql.ts';

export interface HasNodeLabel {
  /** Spec: `location`. Where agents of this node are at home. */
  readonly nodeLabel: string;
}

/** Reads pages of the listing; equal questions that wait at the same moment are asked once. */
export interface ListingReader {
  read(query: SearchQuestion): Promise<SearchPage>;
}

export interface HasListing {
  readonly listing: ListingReader;
}

const MAX_WAITING = 500;

/** Answers are never remembered: each comes from a query that began after the question was asked. */
export function createListingReader(ctx: HasDb): ListingReader {
  const batcher = createBatcher<{ key: string; query: SearchQuestion }, SearchPage>({
    maxSize: MAX_WAITING,
    maxConcurrent: 2,
    run: async (items) => {
      const pages = new Map<string, Promise<SearchPage>>();
      for (const { key, query } of items) if (!pages.has(key)) pages.set(key, readSearchPage(ctx, query));
      return Promise.all(items.map(({ key }) => pages.get(key) as Promise<SearchPage>));
    },
  });
  return { read: (query) => batcher.add({ key: keyOf(query), query }) };
}

const keyOf = (query: SearchQuestion) =>
  JSON.stringify(query, (_key, value) => (typeof value === 'bigint' ? value.toString() : value));

const isOnlineFor = { online: [true], offline: [false], all: [true, false] };
const DEFAULT_LIMIT = 20;

/** Lists agents that match every filter, best reputation first, with the exact total. */
export async function discoverAgents(
  ctx: HasListing & HasNodeLabel,
  query: Parsed<Api['listAgents']>['query'],
): Promise<DataOf<Api['listAgents']>> {
  const limit = query.limit ?? DEFAULT_LIMIT;
  const offset = query.offset ?? 0;
  if (query.cursor !== undefined && query.offset !== undefined)
    throw invalid('cursor', 'cannot be used together with offset');
  const filter = {
    isOnline: isOnlineFor[query.status ?? 'all'],
    isVerified: [true, false],
    minReputation: query.minReputation ?? 0,
    maxPriceMicro: query.maxPrice === undefined ? null : parseUsdc(query.maxPrice),
    maxPerHourMicro: null,
  };
  const page = await ctx.listing.read({
    wanted: { any: [], all: query.capability === undefined ? [] : [query.capability], home: null },
    words: null,
    filter,
    order: bestReputationFirst,
    after: query.cursor === undefined ? null : readCursor(query.cursor),
    limit: limit + 1,
    offset,
  });
  const shown = page.agents.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = page.agents.length > limit;
  return {
    agents: shown.map((agent) => toListItem(agent, ctx.nodeLabel)),
    total: page.total,
    hasMore,
    nextCursor: hasMore && last ? makeCursor(last) : null,
  };
}

const makeCursor = ({ reputation, id }: { reputation: number; id: string }) =>
  Buffer.from(`${reputation}.${id}`).toString('base64url');

function readCursor(cursor: string): Place {
  const match = /^(\d{1,4})\.([a-z]{3}_[0-9a-z]+)$/.exec(Buffer.from(cursor, 'base64url').toString());
  if (!match?.[1] || !match[2]) throw invalid('cursor', 'is not a cursor of this node');
  return { keys: [match[1]], id: match[2] };
}
