import type { Api } from '@agent-network/contracts/api';
import type { DataOf, Parsed } from '@agent-network/contracts/endpoint';
import type { PageEnd } from '@agent-network/search-index/listing';
import { limitsIn } from '@agent-network/search-index/listing-fields';
import { bestReputationFirst } from '@agent-network/search-index/search-order';
import { invalid } from '../../lib/app-error.ts';
import { preparedArray } from '../../lib/json/prepared-json.ts';
import { decodeCursor, encodeCursor } from '../../lib/page-position.ts';
import type { HasListing, Listed } from './listing.ts';

const isOnlineFor = { online: [true], offline: [false], all: [true, false] };
const DEFAULT_LIMIT = 20;

/** Lists agents that match every filter, best reputation first, with the exact total. */
export async function discoverAgents(
  ctx: HasListing,
  query: Parsed<Api['listAgents']>['query'],
): Promise<Listed<DataOf<Api['listAgents']>>> {
  if (query.cursor !== undefined && query.offset !== undefined)
    throw invalid('cursor', 'cannot be used together with offset');
  const search = {
    wanted: { any: [], all: query.capability === undefined ? [] : [query.capability], home: null },
    words: null,
    filter: {
      isOnline: isOnlineFor[query.status ?? 'all'],
      isVerified: [true, false],
      limits: limitsIn(query),
    },
    order: bestReputationFirst,
    after: query.cursor === undefined ? null : readCursor(query.cursor),
    limit: query.limit ?? DEFAULT_LIMIT,
    offset: query.offset ?? 0,
  };
  const { total, hits, next } = await ctx.listing.read((index) => index.search(search));
  return {
    agents: preparedArray(hits.map(({ item }) => item)),
    total,
    hasMore: next !== null,
    nextCursor: next && makeCursor(next),
  };
}

const makeCursor = ({ keys: [reputation], id }: PageEnd) => encodeCursor(`${reputation}.${id}`);

function readCursor(cursor: string): PageEnd {
  const [reputation = '', id = ''] = decodeCursor(cursor, /^(\d{1,4})\.([a-z]{3}_[0-9a-z]+)$/);
  return { keys: [reputation], id };
}
