import type { AgentQuery, AgentSearch } from '@agent-network/contracts/agents/agent-search';
import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import type { SearchFilter } from '@agent-network/search-index/listing';
import { limitsOf } from '@agent-network/search-index/listing-fields';
import { orderOf } from '@agent-network/search-index/search-order';
import { wantedOf, wordsOf } from '@agent-network/search-index/words/words';
import { invalid } from '../../lib/app-error.ts';
import { formatDuration } from '../../lib/duration.ts';
import { preparedArray } from '../../lib/json/prepared-json.ts';
import type { HasSecrets } from '../../lib/secrets.ts';
import type { HasListing, Listed } from './listing.ts';
import { makeSearchCursor, readSearchCursor } from './search-cursor.ts';

/** Finds the agents that match every part of the query, in the order asked for, with the exact total. */
export async function searchAgents(
  ctx: HasListing & HasSecrets,
  input: AgentSearch,
): Promise<Listed<DataOf<Api['searchAgents']>>> {
  const startMs = performance.now();
  const { query, limit, offset, cursor } = input;
  if (cursor !== undefined && offset > 0) throw invalid('cursor', 'cannot be used together with offset');
  const order = orderOf(input.sort, query.text !== undefined);
  const question = JSON.stringify([query, order]);
  const search = {
    wanted: wantedOf(query),
    words: query.text === undefined ? null : wordsOf(query.text),
    filter: filterOf(query),
    order,
    after: cursor === undefined ? null : readSearchCursor(ctx, question, cursor),
    limit,
    offset,
  };
  const { total, hits, next } = await ctx.listing.read((index) => index.search(search));
  return {
    agents: preparedArray(hits.map(({ item }) => item)),
    total,
    hasMore: next !== null,
    nextCursor: next && makeSearchCursor(ctx, question, next),
    query,
    executionTime: formatDuration(performance.now() - startMs),
  };
}

const filterOf = (query: AgentQuery): SearchFilter => ({
  isOnline: query.online === undefined ? [true, false] : [query.online],
  isVerified: query.verified === undefined ? [true, false] : [query.verified],
  limits: limitsOf(query),
});
